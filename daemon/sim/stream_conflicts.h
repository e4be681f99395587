// Operations of a plan that its streams and events do not order, and that touch the same bytes, one of them writing:
// what comes of it is left to the GPU. Told from the bytes that one run touched, and so in whatever order it ran.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/launch_plan.h"
#include "core/verdict.h"
#include "sim/plan_memory.h"
#include "sim/touched.h"

namespace warpwright::sim {

class StreamConflicts {
 public:
  explicit StreamConflicts(const PlanMemory& memory);  // of the plan's operations; it outlives this
  // Whether some operations may run in another order: nothing else is to be noted.
  bool any() const { return any_; }
  // What operation `index` touched, after all before it.
  std::optional<core::Fault> Note(size_t index, Touched touched);
  // The same of one that is no launch.
  std::optional<core::Fault> Note(size_t index);

 private:
  std::string Describe(size_t index) const;
  std::string ElementAt(uint64_t address) const;

  const std::vector<core::PlanOp>& ops_;
  const PlanMemory& memory_;
  std::vector<std::vector<bool>> before_;  // [i][j]: i always follows j
  std::vector<Touched> touched_;
  bool any_ = false;
};

}  // namespace warpwright::sim
