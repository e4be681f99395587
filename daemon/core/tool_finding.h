// What another tool reports about a winner that it checked (worker/acceptance_tools.h).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel_spec.h"

namespace warpwright::core {

struct ToolFinding {
  enum class Outcome { kClean, kFound, kNotRun };
  std::string tool;  // "compute-sanitizer memcheck", "nvcc -arch=sm_90"
  Outcome outcome = Outcome::kNotRun;
  std::string message;  // what was found, or why it did not run
};

// Notes of runs that were asked for nvcc's build (Executed::notes): what its host code launches other than the slice's,
// and why that is not known.
inline constexpr std::string_view kLaunchesOtherwise = "nvcc's host code launches otherwise: ",
                                  kLaunchesUnknown = "nvcc's host code was not compared: ";

// Of the tools that a repository requires, one that did not look, and why; it stands in the place of a finding.
std::optional<ToolFinding> FirstUnheard(const std::set<RequiredTool>& required,
                                        const std::vector<ToolFinding>& findings);

}  // namespace warpwright::core
