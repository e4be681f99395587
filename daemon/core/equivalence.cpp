#include "core/equivalence.h"

#include "core/evaluator.h"

namespace warpwright::core {

std::string_view Name(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kNotWritten: return "not_written";
    case DifferenceKind::kWritten: return "written";
    case DifferenceKind::kFunction: return "function";
    case DifferenceKind::kAccuracy: return "accuracy";
    case DifferenceKind::kOrder: return "order";
    case DifferenceKind::kEarlierCall: return "earlier_call";
    case DifferenceKind::kFails: return "fails";
  }
  return "?";
}

Result<Equivalence> Evaluator::Compare(const EquivalenceRequest&) {
  return Equivalence{.outcome = NotComparable{"not available", "this evaluator does not compare", false}};
}

}  // namespace warpwright::core
