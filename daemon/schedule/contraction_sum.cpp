#include "schedule/contraction_sum.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpwright::schedule {

// Whether a term is left out where one of `guards` fails, and the other factor's hold.
bool ContractionSum::HasLeftOut(const std::vector<core::Guard>& guards, const std::vector<core::Guard>& others) const {
  return std::any_of(guards.begin(), guards.end(), [&](const core::Guard& guard) {
    const bool leaves_out = !IsZeroOutside(problem_, guard) || !core::IsNumber(guard.value.divisor, 1);
    return leaves_out && std::find(others.begin(), others.end(), guard) == others.end();
  });
}

bool ContractionSum::LeavesOut() const {
  const Factor &left = contraction_.left, &right = contraction_.right;
  if (!left.conditions.empty() || !right.conditions.empty()) return !problem_.zero_unless_seen;
  return HasLeftOut(left.guards, right.guards) || HasLeftOut(right.guards, left.guards);
}

std::string ContractionSum::Scaled(const std::string& sum, Lines& lines) {
  std::string product = sum;
  if (!contraction_.scale.empty()) {
    ExpressionCode code(problem_, stage_, Scope{.variables = variables_}, names_, lines);
    for (const core::NodeId id : contraction_.scale)
      product += " * " + Parenthesized(code.Value(id, core::ValueType::kReal));
    refusal_ = code.refusal() ? code.refusal() : refusal_;
  }
  const std::string guards = ConditionText(contraction_.guards, variables_);
  if (!guards.empty()) product = fmt::format("({} ? {} : {})", guards, product, NumberText(problem_, 0));
  return product;
}

std::string ContractionSum::Again(Lines& lines) {
  ExpressionCode code(problem_, stage_, Scope{.variables = variables_}, names_, lines);
  const std::string sum = code.Value(contraction_.sum, core::ValueType::kReal);
  refusal_ = code.refusal() ? code.refusal() : refusal_;
  return sum;
}

}  // namespace warpwright::schedule
