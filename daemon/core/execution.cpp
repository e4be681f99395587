#include "core/execution.h"

namespace warpwright::core {

std::string_view Name(Perturbation perturbation) {
  switch (perturbation) {
    case Perturbation::kNone: return "none";
    case Perturbation::kHalfMultiprocessors: return "half_multiprocessors";
    case Perturbation::kNoise: return "noise";
  }
  return "?";
}
std::string_view Name(PageGuard memory) {
  switch (memory) {
    case PageGuard::kNone: return "none";
    case PageGuard::kEnds: return "ends";
    case PageGuard::kBegins: return "begins";
  }
  return "?";
}
std::string_view Name(CounterDepth depth) {
  switch (depth) {
    case CounterDepth::kTimes: return "times";
    case CounterDepth::kCore: return "core";
    case CounterDepth::kEvidence: return "evidence";
    case CounterDepth::kSpeedOfLight: return "speed_of_light";
  }
  return "?";
}

}  // namespace warpwright::core
