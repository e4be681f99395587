#include "llm/ledger.h"

#include <fmt/format.h>

#include <cmath>

#include "memory/sqlite.h"

namespace warpwright::llm {
namespace {

constexpr int32_t kApplicationId = 0x57574c45;  // "WWLE"
constexpr memory::DatabaseOptions kOptions{.what = "the ledger of model calls"};

constexpr const char* kMigrations[] = {
    R"(CREATE TABLE call (
         id INTEGER PRIMARY KEY, day TEXT NOT NULL, repository TEXT NOT NULL, task TEXT NOT NULL, role TEXT NOT NULL,
         model TEXT NOT NULL, question TEXT NOT NULL, started TEXT NOT NULL, open INTEGER NOT NULL,
         nanodollars INTEGER, tokens INTEGER NOT NULL, seconds REAL NOT NULL);
       CREATE INDEX call_by_day ON call(day, repository);
       CREATE INDEX call_by_task ON call(task);)"};

constexpr double kNano = 1e-9;

Nanodollars Nano(double dollars) { return static_cast<Nanodollars>(std::llround(dollars * 1e9)); }

// One cap against what is counted already and what a call may add.
struct CapCheck {
  std::string name;  // "limits.models.task"
  config::SpendCap cap;
  Spent spent;
  bool of_a_day = false;
};

std::optional<Exceeded> FindExceeded(const CapCheck& check, const Spending& more) {
  const auto& [name, cap, spent, of_a_day] = check;
  const auto exceeded = [&](std::string_view what, std::string message) {
    const bool own_name = what == "dollars" && name == "limits.models.day";
    return Exceeded{own_name ? "limits.model_dollars_per_day" : fmt::format("{}.{}", name, what), std::move(message),
                    !of_a_day || spent.calls == 0 || (cap.dollars && !more.nanodollars)};
  };
  if (cap.dollars && !more.nanodollars)
    return exceeded("dollars", "the price of this model is not known, so that the limit cannot be held");
  if (cap.dollars && spent.nanodollars + *more.nanodollars > Nano(*cap.dollars))
    return exceeded("dollars", fmt::format("${:.4f} of ${:.4f} are spent, and this call may cost ${:.4f}",
                                           static_cast<double>(spent.nanodollars) * kNano, *cap.dollars,
                                           static_cast<double>(*more.nanodollars) * kNano));
  if (cap.tokens && spent.tokens + more.tokens > *cap.tokens)
    return exceeded("tokens", fmt::format("{} of {} tokens are used, and this call may use {}", spent.tokens,
                                          *cap.tokens, more.tokens));
  if (cap.calls && spent.calls + 1 > *cap.calls)
    return exceeded("calls", fmt::format("{} of {} calls are made", spent.calls, *cap.calls));
  if (cap.minutes && spent.seconds >= *cap.minutes * 60)
    return exceeded("minutes", fmt::format("{:.1f} of {} minutes are used", spent.seconds / 60, *cap.minutes));
  return std::nullopt;
}

}  // namespace

struct Ledger::State {
  State(SQLite::Database d, const base::Clock* c) : db(std::move(d)), clock(c) {}
  SQLite::Database db;
  const base::Clock* clock;
  base::SystemClock system_clock;

  std::string Now() const { return base::FormatUtc((clock != nullptr ? *clock : system_clock).Now()); }
  std::string Day() const { return Now().substr(0, 10); }

  template <typename... Values>
  Spent Sum(const std::string& where, const Values&... values) {
    SQLite::Statement rows = memory::Prepare(
        db,
        "SELECT count(*), coalesce(sum(nanodollars IS NULL), 0), coalesce(sum(tokens), 0), "
        "coalesce(sum(nanodollars), 0), coalesce(sum(seconds), 0), coalesce(sum(open), 0) FROM call WHERE " +
            where,
        values...);
    rows.executeStep();
    Spent spent;
    spent.calls = rows.getColumn(0);
    spent.unknown_costs = rows.getColumn(1);
    spent.tokens = rows.getColumn(2);
    spent.nanodollars = rows.getColumn(3).getInt64();
    spent.seconds = rows.getColumn(4);
    spent.open = rows.getColumn(5);
    return spent;
  }
  Spent SumTask(const std::string& task) { return Sum("task = ?", task); }
  Spent SumRepository(const std::string& repository) { return Sum("day = ? AND repository = ?", Day(), repository); }
  Spent SumDay() { return Sum("day = ?", Day()); }
};

Ledger::Ledger(std::unique_ptr<State> state) : state_(std::move(state)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Result<Ledger> Ledger::Open(const std::filesystem::path& path, const base::Clock* clock) {
  WW_ASSIGN(SQLite::Database db, memory::OpenDatabase(path, kApplicationId, kOptions));
  WW_TRY(memory::Migrate(db, kMigrations, kOptions));
  return Ledger(std::make_unique<State>(std::move(db), clock));
}

Result<std::variant<Reserved, Exceeded>> Ledger::Reserve(const LedgerCall& call, const LedgerCaps& limits) {
  State& s = *state_;
  using Outcome = std::variant<Reserved, Exceeded>;
  return memory::InTransaction(s.db, [&]() -> Result<Outcome> {  // the write lock: nobody else reserves meanwhile
    config::SpendCap day = limits.caps.day;
    day.dollars = limits.dollars_per_day;
    const CapCheck checks[] = {
        {"limits.models.call", limits.caps.call, {}},
        {"limits.models.task", limits.caps.task, s.SumTask(call.account.task)},
        {"limits.models.repository_day", limits.caps.repository_day, s.SumRepository(call.account.repository), true},
        {"limits.models.day", day, s.SumDay(), true}};
    Reserved reserved{.seconds = call.estimate.seconds};
    for (const CapCheck& check : checks) {
      if (auto exceeded = FindExceeded(check, call.estimate)) return Outcome(std::move(*exceeded));
      if (check.cap.minutes)
        reserved.seconds = std::min(reserved.seconds, *check.cap.minutes * 60 - check.spent.seconds);
    }
    SQLite::Statement insert = memory::Prepare(
        s.db,
        "INSERT INTO call(day, repository, task, role, model, question, started, open, tokens, seconds) "
        "VALUES (?,?,?,?,?,?,?,1,?,?)",
        s.Day(), call.account.repository, call.account.task, std::string(Name(call.role)), call.model, call.question,
        s.Now(), call.estimate.tokens, reserved.seconds);
    insert.exec();
    reserved.call = s.db.getLastInsertRowid();
    if (call.estimate.nanodollars)
      memory::Prepare(s.db, "UPDATE call SET nanodollars = ? WHERE id = ?", *call.estimate.nanodollars, reserved.call)
          .exec();
    return Outcome(reserved);
  });
}

Status Ledger::Settle(int64_t call, const Spending& actual) {
  State& s = *state_;
  return memory::InTransaction(s.db, [&]() -> Status {
    memory::Prepare(s.db, "UPDATE call SET open = 0, tokens = ?, seconds = ?, nanodollars = NULL WHERE id = ?",
                    actual.tokens, actual.seconds, call)
        .exec();
    if (actual.nanodollars)
      memory::Prepare(s.db, "UPDATE call SET nanodollars = ? WHERE id = ?", *actual.nanodollars, call).exec();
    return {};
  });
}

Status Ledger::Release(int64_t call) {
  return memory::Guarded(state_->db,
                         [&] { memory::Prepare(state_->db, "DELETE FROM call WHERE id = ?", call).exec(); });
}

Result<Spent> Ledger::OfTask(const std::string& task) {
  return memory::Guarded(state_->db, [&] { return Result<Spent>(state_->SumTask(task)); });
}
Result<Spent> Ledger::OfRepositoryToday(const std::string& repository) {
  return memory::Guarded(state_->db, [&] { return Result<Spent>(state_->SumRepository(repository)); });
}
Result<Spent> Ledger::Today() {
  return memory::Guarded(state_->db, [&] { return Result<Spent>(state_->SumDay()); });
}

}  // namespace warpwright::llm
