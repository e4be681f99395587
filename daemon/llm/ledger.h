// What was spent on models, in SQLite, shared by all processes of a state folder. A call is entered with all that it
// may cost before it is sent, and with what it did cost afterwards. So a process that is killed in between leaves its
// estimate behind, which stays counted: limits hold whatever happens, at the price of a little that was not spent.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <variant>

#include "base/clock.h"
#include "config/model_settings.h"
#include "core/agent_role.h"
#include "llm/spending.h"

namespace warpwright::llm {

// On whose account a call is.
struct Account {
  std::string task;        // unique to it: a content key
  std::string repository;  // its address or path
};
struct LedgerCaps {
  config::ModelCaps caps;
  std::optional<double> dollars_per_day;  // limits.model_dollars_per_day
};
struct LedgerCall {
  Account account;
  core::AgentRole role = core::AgentRole::kPlanner;
  std::string model;     // its name in the operator's file
  std::string question;  // id
  Spending estimate;
};

struct Reserved {
  int64_t call = 0;
  double seconds = 0;  // that it may take: its own, or what a limit leaves
};
struct Exceeded {
  std::string limit;    // "limits.models.task.dollars"
  std::string message;  // with the numbers
  bool for_good;        // another day frees nothing
};

struct Spent {
  int64_t calls = 0, unknown_costs = 0, tokens = 0;
  Nanodollars nanodollars = 0;  // of those whose cost is known
  double seconds = 0;
  int64_t open = 0;  // of the calls: reserved and not settled, now or ever
};

class Ledger {
 public:
  // `clock` must outlive the ledger; nullptr: the system's.
  static Result<Ledger> Open(const std::filesystem::path& path, const base::Clock* clock = nullptr);
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  Result<std::variant<Reserved, Exceeded>> Reserve(const LedgerCall& call, const LedgerCaps& caps);
  Status Settle(int64_t call, const Spending& actual);
  Status Release(int64_t call);  // nothing was sent

  Result<Spent> OfTask(const std::string& task);
  Result<Spent> OfRepositoryToday(const std::string& repository);
  Result<Spent> Today();

 private:
  struct State;
  explicit Ledger(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace warpwright::llm
