#include "core/evaluator.h"

namespace warpwright::core {

Result<LiftOutcome> Evaluator::Lift(const LiftRequest&) {
  return LiftOutcome(NotLifted{"not available", "this evaluator does not lift", false});
}

}  // namespace warpwright::core
