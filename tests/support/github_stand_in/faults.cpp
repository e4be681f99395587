#include "tests/support/github_stand_in/faults.h"

namespace warpwright {

std::string_view Name(Fault fault) {
  switch (fault) {
    case Fault::kNone: return "";
    case Fault::kSecondaryLimit: return "403 secondary limit";
    case Fault::kPrimaryLimit: return "403 nothing remaining";
    case Fault::kUnprocessable: return "422";
    case Fault::kTooMany: return "429";
    case Fault::kBadGateway: return "502";
    case Fault::kTimeout: return "timeout";
    case Fault::kReset: return "reset";
  }
  return "";
}

DrawnFault FaultPlan::Draw(bool git) {
  const double share = git ? options_.git_share : options_.share;
  if (share <= 0 || options_.kinds.empty()) return {};
  const std::lock_guard guard(mutex_);
  if (std::uniform_real_distribution<double>()(random_) >= share) return {};
  DrawnFault drawn;
  drawn.fault = options_.kinds[random_() % options_.kinds.size()];
  if (git && drawn.fault != Fault::kBadGateway) drawn.fault = Fault::kReset;
  const bool lost = drawn.fault == Fault::kBadGateway || drawn.fault == Fault::kTimeout || drawn.fault == Fault::kReset;
  drawn.done = lost && random_() % 2 == 0;
  return drawn;
}

}  // namespace warpwright
