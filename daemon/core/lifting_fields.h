// How a call to lift and its answer are encoded (base/fields.h).
#pragma once

#include "core/computation_fields.h"
#include "core/execution_fields.h"
#include "core/lifting.h"

namespace warpwright::core {

template <typename V>
void Describe(V& field, const LiftShape*) {
  using T = LiftShape;
  field("scalars", &T::scalars);
  field("buffers", &T::buffers);
  field("even", &T::even);
  field("apart", &T::apart);
}
template <typename V>
void Describe(V& field, const DividedSize*) {
  field("size", &DividedSize::size);
  field("groups", &DividedSize::groups);
}
template <typename V>
void Describe(V& field, const LiftRequest*) {
  using T = LiftRequest;
  field("source", &T::source);
  field("spec", &T::spec);
  field("device", &T::device);
  field("shapes", &T::shapes);
  field("divided", &T::divided);
  field("unified_shapes", &T::unified_shapes);
  field("node_limit", &T::node_limit);
  field("instruction_limit", &T::instruction_limit);
  field("seconds_limit", &T::seconds_limit);
}
constexpr std::string_view Tag(const LiftRequest*) { return "lift"; }

template <typename V>
void Describe(V& field, const NotLifted*) {
  using T = NotLifted;
  field("blocker", &T::blocker);
  field("message", &T::message);
  field("executed", &T::executed);
}
constexpr std::string_view Tag(const NotLifted*) { return "not_lifted"; }
template <typename V>
void Describe(V& field, const Lifted*) {
  using T = Lifted;
  field("computation", &T::computation);
  field("shapes", &T::shapes);
  field("verified", &T::verified);
  field("notes", &T::notes);
  field("seconds", &T::seconds);
}
constexpr std::string_view Tag(const Lifted*) { return "lifted"; }
constexpr const char* TagKey(const LiftOutcome*) { return "outcome"; }

}  // namespace warpwright::core
