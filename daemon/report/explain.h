// A trajectory as an Explanation.
#pragma once

#include "core/chip.h"
#include "core/kernel_spec.h"
#include "memory/trajectory.h"
#include "report/explanation.h"

namespace warpwright {

// What the trajectory does not know.
struct ExplainContext {
  std::string file, entry;
  Chip chip;
  std::string base_commit, version, toolchain;
};

Explanation Explain(const TrajectoryView& view, const ExplainContext& context);

}  // namespace warpwright
