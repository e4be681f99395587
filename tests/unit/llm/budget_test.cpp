#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/file.h"
#include "llm/budgeted_model.h"
#include "tests/unit/llm/model_kit.h"

namespace warpwright {
namespace {

constexpr config::TokenPrice kPrice{.input = 3000, .output = 15'000, .cache_read = 300, .cache_write = 3750};

struct LedgerKit {
  base::TemporaryDirectory folder = std::move(*base::TemporaryDirectory::Create("ledger"));
  WaitedClock clock;
  std::filesystem::path path = folder.path() / "ledger.db";
  std::shared_ptr<llm::Ledger> ledger = Open();

  std::shared_ptr<llm::Ledger> Open() {
    auto opened = llm::Ledger::Open(path, &clock);
    EXPECT_TRUE(opened) << opened.error().Format();
    return std::make_shared<llm::Ledger>(std::move(*opened));
  }
};

llm::LedgerCall Call(std::string task, std::string repository, std::optional<int64_t> nanodollars, int64_t tokens = 100,
                     double seconds = 10) {
  return {.account = {std::move(task), std::move(repository)},
          .estimate = {.tokens = tokens, .nanodollars = nanodollars, .seconds = seconds}};
}

std::string LimitOf(const Result<std::variant<llm::Reserved, llm::Exceeded>>& outcome) {
  if (!outcome) return outcome.error().Format();
  const auto* exceeded = std::get_if<llm::Exceeded>(&*outcome);
  return exceeded == nullptr ? "" : exceeded->limit;
}

TEST(Spending, IsEstimatedHighAndSettledExactly) {
  const llm::Question question = MakeQuestion();
  size_t bytes = 0;
  for (const auto* parts : {&question.system, &question.user})
    for (const auto& part : *parts) bytes += part.text.size();
  const llm::Spending estimate = llm::EstimateSpending(question, kPrice);
  const int64_t input = static_cast<int64_t>(bytes / 2) + 500;
  EXPECT_EQ(estimate.tokens, input + 100);
  EXPECT_EQ(estimate.nanodollars, input * 3750 + 100 * 15'000);
  EXPECT_EQ(estimate.seconds, 20);
  EXPECT_EQ(llm::EstimateSpending(question, std::nullopt).nanodollars, std::nullopt) << "unknown, not zero";

  const llm::Usage usage{.input = 10, .cache_read = 20, .cache_write = 30, .output = 40};
  EXPECT_EQ(llm::CostOf(usage, kPrice), 10 * 3000 + 20 * 300 + 30 * 3750 + 40 * 15'000);
  EXPECT_EQ(llm::CostOf(usage, std::nullopt), std::nullopt);
  EXPECT_EQ(llm::CostOf({.input = 10}, kPrice), std::nullopt) << "no output said";
  EXPECT_EQ(llm::CostOf({}, config::TokenPrice{}), 0) << "unmetered";
  // What a broken answer did not say counts as estimated.
  const llm::Spending broken = llm::ActualSpending({.usage = {.input = 10}, .requests = 1}, question, kPrice);
  EXPECT_EQ(broken.nanodollars, 10 * 3000 + 100 * 15'000);
  EXPECT_EQ(broken.tokens, 110);
  EXPECT_EQ(llm::ActualSpending({.requests = 1}, question, kPrice).tokens, estimate.tokens);
}

TEST(Ledger, HoldsEveryCapOfEveryScope) {
  const double day_dollars = 1;
  const auto cap = [](auto&& set) {
    config::SpendCap c;
    set(c);
    return c;
  };
  const config::SpendCap dollars = cap([](auto& c) { c.dollars = 1e-6; }),
                         tokens = cap([](auto& c) { c.tokens = 250; }), calls = cap([](auto& c) { c.calls = 2; }),
                         minutes = cap([](auto& c) { c.minutes = 0.5; });
  const struct {
    const char* limit;
    llm::LedgerCaps caps;
    int allowed;  // of calls of 400 nanodollars, 100 tokens, 15 s each
    const char *other_task, *other_repository;
  } rows[] = {
      {"limits.models.task.dollars", {{.task = dollars}, day_dollars}, 2, "", ""},
      {"limits.models.task.tokens", {{.task = tokens}, day_dollars}, 2, "", ""},
      {"limits.models.task.calls", {{.task = calls}, day_dollars}, 2, "", ""},
      {"limits.models.task.minutes", {{.task = minutes}, day_dollars}, 2, "", ""},
      {"limits.models.repository_day.dollars",
       {{.repository_day = dollars}, day_dollars},
       2,
       "limits.models.repository_day.dollars",
       ""},
      {"limits.models.repository_day.calls",
       {{.repository_day = calls}, day_dollars},
       2,
       "limits.models.repository_day.calls",
       ""},
      {"limits.models.day.tokens",
       {{.day = tokens}, day_dollars},
       2,
       "limits.models.day.tokens",
       "limits.models.day.tokens"},
      {"limits.model_dollars_per_day", {{}, 1e-6}, 2, "limits.model_dollars_per_day", "limits.model_dollars_per_day"},
      {"limits.models.call.dollars",
       {{.call = cap([](auto& c) { c.dollars = 1e-7; })}, day_dollars},
       0,
       "limits.models.call.dollars",
       "limits.models.call.dollars"},
      {"limits.models.call.tokens",
       {{.call = cap([](auto& c) { c.tokens = 99; })}, day_dollars},
       0,
       "limits.models.call.tokens",
       "limits.models.call.tokens"},
      {"limits.model_dollars_per_day", {{}, 0.0}, 0, "limits.model_dollars_per_day", "limits.model_dollars_per_day"},
  };
  for (const auto& row : rows) {
    LedgerKit kit;
    for (int i = 0; i < row.allowed; ++i)
      EXPECT_EQ(LimitOf(kit.ledger->Reserve(Call("t", "r", 400, 100, 15), row.caps)), "") << row.limit << i;
    const auto outcome = kit.ledger->Reserve(Call("t", "r", 400, 100, 15), row.caps);
    ASSERT_EQ(LimitOf(outcome), row.limit);
    // A day's limit is free again tomorrow, unless it is less than one call.
    EXPECT_EQ(std::get<llm::Exceeded>(*outcome).for_good,
              row.allowed == 0 || std::string(row.limit).starts_with("limits.models.task"))
        << row.limit;
    EXPECT_EQ(LimitOf(kit.ledger->Reserve(Call("u", "r", 400, 100, 15), row.caps)), row.other_task) << row.limit;
    EXPECT_EQ(LimitOf(kit.ledger->Reserve(Call("u", "s", 400, 100, 15), row.caps)), row.other_repository) << row.limit;
  }
}

TEST(Ledger, SettlesReleasesAndForgetsYesterday) {
  LedgerKit kit;
  const llm::LedgerCaps caps{.caps = {}, .dollars_per_day = 1e-6};
  auto first = kit.ledger->Reserve(Call("t", "r", 900), caps);
  EXPECT_EQ(LimitOf(kit.ledger->Reserve(Call("t", "r", 900), caps)), "limits.model_dollars_per_day");
  ASSERT_TRUE(kit.ledger->Settle(std::get<llm::Reserved>(*first).call, {.tokens = 7, .nanodollars = 50, .seconds = 2}));
  auto second = kit.ledger->Reserve(Call("t", "r", 900), caps);
  EXPECT_EQ(LimitOf(second), "") << "what was not spent is free again";
  EXPECT_EQ(kit.ledger->Today()->open, 1);
  ASSERT_TRUE(kit.ledger->Release(std::get<llm::Reserved>(*second).call));
  const llm::Spent spent = *kit.ledger->Today();
  EXPECT_EQ(spent.calls, 1);
  EXPECT_EQ(spent.nanodollars, 50);
  EXPECT_EQ(spent.tokens, 7);
  EXPECT_EQ(spent.seconds, 2);
  EXPECT_EQ(spent.open, 0);
  kit.clock.passed += std::chrono::hours(16);  // midnight, UTC
  EXPECT_EQ(kit.ledger->Today()->calls, 0);
  EXPECT_EQ(kit.ledger->OfRepositoryToday("r")->calls, 0);
  EXPECT_EQ(kit.ledger->OfTask("t")->calls, 1) << "a task has no days";
}

TEST(Ledger, AnUnknownPriceMeetsNoLimitInDollars) {
  LedgerKit kit;
  EXPECT_EQ(LimitOf(kit.ledger->Reserve(Call("t", "r", std::nullopt), {.caps = {}, .dollars_per_day = 1000})),
            "limits.model_dollars_per_day");
  auto reserved = kit.ledger->Reserve(Call("t", "r", std::nullopt), {});
  EXPECT_EQ(LimitOf(reserved), "");
  ASSERT_TRUE(kit.ledger->Settle(std::get<llm::Reserved>(*reserved).call, {.tokens = 7}));
  EXPECT_EQ(kit.ledger->Today()->unknown_costs, 1);
}

TEST(Ledger, AMinuteThatIsLeftLimitsTheCall) {
  LedgerKit kit;
  llm::LedgerCaps caps;
  caps.caps.task.minutes = 1;
  auto first = kit.ledger->Reserve(Call("t", "r", 0, 1, 45), caps);
  EXPECT_EQ(std::get<llm::Reserved>(*first).seconds, 45);
  auto second = kit.ledger->Reserve(Call("t", "r", 0, 1, 45), caps);
  EXPECT_EQ(std::get<llm::Reserved>(*second).seconds, 15);
}

// Four processes reserve at once, and are killed with their reservations open: no more than the cap, and all of it
// stays counted.
TEST(Ledger, HoldsAcrossProcessesThatDie) {
  LedgerKit kit;
  kit.ledger.reset();
  const llm::LedgerCaps caps{.caps = {}, .dollars_per_day = 10e-6};
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      auto ledger = llm::Ledger::Open(kit.path, &kit.clock);
      for (int i = 0; ledger && i < 8; ++i) (void)ledger->Reserve(Call("t", "r", 1000), caps);
      ::kill(::getpid(), SIGKILL);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  kit.ledger = kit.Open();
  const llm::Spent spent = *kit.ledger->Today();
  EXPECT_EQ(spent.calls, 10);
  EXPECT_EQ(spent.open, 10);
  EXPECT_EQ(spent.nanodollars, 10'000);
  EXPECT_EQ(LimitOf(kit.ledger->Reserve(Call("t", "r", 1), caps)), "limits.model_dollars_per_day");
}

TEST(BudgetedModel, AsksOnlyWithinTheLimits) {
  LedgerKit kit;
  config::ModelSettings settings;
  settings.name = "writer";
  settings.model = "m";
  settings.price = kPrice;
  const llm::Usage usage{.input = 10, .cache_read = 0, .cache_write = 0, .output = 40};
  const auto make = [&](llm::Answer answer, double dollars, ScriptedModel** inner) {
    auto scripted = std::make_unique<ScriptedModel>(std::vector{std::move(answer)});
    *inner = scripted.get();
    return std::make_unique<llm::BudgetedModel>(std::move(scripted), kit.ledger, llm::Account{"t", "r"},
                                                llm::LedgerCaps{.caps = {}, .dollars_per_day = dollars}, settings);
  };
  ScriptedModel* inner = nullptr;
  auto model = make(llm::Answered{"x", {.usage = usage, .requests = 1}}, 1, &inner);
  auto answer = model->Ask(MakeQuestion());
  ASSERT_TRUE(answer) << answer.error().Format();
  EXPECT_EQ(std::get<llm::Answered>(*answer).receipt.cost, 10 * 3000 + 40 * 15'000);
  EXPECT_EQ(kit.ledger->Today()->nanodollars, 10 * 3000 + 40 * 15'000);

  model = make(llm::Answered{"x", {.usage = usage, .requests = 1}}, 0, &inner);
  answer = model->Ask(MakeQuestion());
  EXPECT_EQ(Name(std::get<llm::Failed>(*answer).kind), "budget");
  EXPECT_NE(std::get<llm::Failed>(*answer).message.find("limits.model_dollars_per_day"), std::string::npos);
  EXPECT_TRUE(inner->asked.empty());

  model = make(llm::Failed{.kind = llm::FailureKind::kUnreachable}, 1, &inner);
  (void)model->Ask(MakeQuestion());
  EXPECT_EQ(kit.ledger->Today()->calls, 1) << "what nobody took is not counted";

  model = make(llm::Failed{.kind = llm::FailureKind::kCutOff, .receipt = {.requests = 1}}, 1, &inner);
  answer = model->Ask(MakeQuestion());
  EXPECT_EQ(std::get<llm::Failed>(*answer).receipt.cost, std::nullopt) << "unknown";
  EXPECT_EQ(kit.ledger->Today()->nanodollars,
            10 * 3000 + 40 * 15'000 + 3000 * llm::EstimateInputTokens(MakeQuestion()) + 100 * 15'000)
      << "and counted as estimated";
}

}  // namespace
}  // namespace warpwright
