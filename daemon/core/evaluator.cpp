#include "core/evaluator.h"

namespace warpwright {

std::string_view Name(Perturbation perturbation) {
  switch (perturbation) {
    case Perturbation::kNone:
      return "none";
    case Perturbation::kHalfMultiprocessors:
      return "half_multiprocessors";
    case Perturbation::kNoise:
      return "noise";
  }
  return "?";
}
std::string_view Name(ExactMemory memory) {
  switch (memory) {
    case ExactMemory::kNone:
      return "none";
    case ExactMemory::kEnds:
      return "ends";
    case ExactMemory::kBegins:
      return "begins";
  }
  return "?";
}
std::string_view Name(CounterDepth depth) {
  switch (depth) {
    case CounterDepth::kCore:
      return "core";
    case CounterDepth::kEvidence:
      return "evidence";
    case CounterDepth::kSpeedOfLight:
      return "speed_of_light";
  }
  return "?";
}

}  // namespace warpwright
