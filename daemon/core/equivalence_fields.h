// How a call to compare and its answer are encoded (base/fields.h).
#pragma once

#include "core/equivalence.h"
#include "core/lifting_fields.h"

namespace warpwright::core {

template <typename V>
void Describe(V& field, const EquivalenceRequest*) {
  using T = EquivalenceRequest;
  field("original", &T::original);
  field("candidate", &T::candidate);
  field("spec", &T::spec);
  field("device", &T::device);
  field("shapes", &T::shapes);
  field("compared_shapes", &T::compared_shapes);
  field("node_limit", &T::node_limit);
  field("instruction_limit", &T::instruction_limit);
  field("seconds_limit", &T::seconds_limit);
}
constexpr std::string_view Tag(const EquivalenceRequest*) { return "compare"; }

template <typename V>
void Describe(V& field, const Equal*) {
  using T = Equal;
  field("shapes", &T::shapes);
  field("inputs", &T::inputs);
  field("elements", &T::elements);
  field("identical", &T::identical);
  field("same_form", &T::same_form);
}
constexpr std::string_view Tag(const Equal*) { return "equal"; }
template <typename V>
void Describe(V& field, const Difference*) {
  using T = Difference;
  field("kind", &T::kind);
  field("output", &T::output);
  field("element", &T::element);
  field("original", &T::original);
  field("candidate", &T::candidate);
  field("expected", &T::expected);
  field("computed", &T::computed);
  field("input", &T::input);
  field("outputs", &T::outputs);
}
template <typename V>
void Describe(V& field, const Different*) {
  field("differences", &Different::differences);
}
constexpr std::string_view Tag(const Different*) { return "different"; }
template <typename V>
void Describe(V& field, const NotComparable*) {
  using T = NotComparable;
  field("blocker", &T::blocker);
  field("message", &T::message);
  field("candidate", &T::candidate);
}
constexpr std::string_view Tag(const NotComparable*) { return "not_comparable"; }
constexpr const char* TagKey(const EquivalenceOutcome*) { return "outcome"; }
template <typename V>
void Describe(V& field, const Equivalence*) {
  using T = Equivalence;
  field("outcome", &T::outcome);
  field("remarks", &T::remarks);
  field("literals", &T::literals);
  field("seconds", &T::seconds);
}

}  // namespace warpwright::core
