// How plans are encoded (base/fields.h).
#pragma once

#include "base/fields.h"
#include "core/plan.h"

namespace warpwright::core {

template <typename V>
void Describe(V& field, const Prediction*) {
  using T = Prediction;
  field("field", &T::field);
  field("direction", &T::direction);
  field("factor", &T::factor);
}
template <typename V>
void Describe(V& field, const Plan*) {
  using T = Plan;
  field("method", &T::method);
  field("transform", &T::transform);
  field("kernel", &T::kernel);
  field("variants", &T::variants);
  field("bottleneck", &T::bottleneck);
  field("why", &T::why);
  field("evidence", &T::evidence);
  field("expected", &T::expected);
  field("score", &T::score);
  field.Sparse("instructions", &T::instructions);
  field.Sparse("author", &T::author);
  field.Sparse("kernels", &T::kernels);
}

}  // namespace warpwright::core
