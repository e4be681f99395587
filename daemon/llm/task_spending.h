// What was asked for a task, and what it cost, by the steps of its trajectory (JournalledModel).
#pragma once

#include <optional>
#include <set>
#include <string>

#include "llm/answer.h"
#include "memory/trajectory.h"

namespace warpwright::llm {

struct TaskSpending {
  int questions = 0;  // that were answered, of whatever kind the answer is
  int64_t tokens_in = 0, tokens_out = 0;
  Nanodollars known = 0;         // of the answers whose cost is known
  int unknown = 0;               // answers whose cost is not
  int gains = 0;                 // versions that were taken and not refused since, by whomever they were written
  std::set<std::string> models;  // as their providers name them

  std::optional<double> Dollars() const;         // none: of some answer it is unknown
  std::optional<double> DollarsPerGain() const;  // none: unknown, or nothing was taken
};
// Steps that do not decode count as questions of unknown cost.
TaskSpending SpendingOf(const memory::TrajectoryView& view);

}  // namespace warpwright::llm
