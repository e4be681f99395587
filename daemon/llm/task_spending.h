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
  std::optional<Nanodollars> cost = 0;  // none: of some answer it is unknown
  std::set<std::string> models;         // as their providers name them
};
// Steps that do not decode count as questions of unknown cost.
TaskSpending SpendingOf(const memory::TrajectoryView& view);

}  // namespace warpwright::llm
