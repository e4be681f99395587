// What another tool reports about a winner that it checked (worker/acceptance_tools.h).
#pragma once

#include <string>

namespace warpwright::core {

struct ToolFinding {
  enum class Outcome { kClean, kFound, kNotRun };
  std::string tool;  // "compute-sanitizer memcheck", "nvcc -arch=sm_90"
  Outcome outcome = Outcome::kNotRun;
  std::string message;  // what was found, or why it did not run
};

}  // namespace warpwright::core
