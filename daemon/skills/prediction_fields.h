// How a method card's expectations and their outcomes are encoded (base/fields.h).
#pragma once

#include "base/fields.h"
#include "skills/cause.h"

namespace warpwright::skills {

template <typename V>
void Describe(V& field, const ExpectedChange*) {
  using T = ExpectedChange;
  field("name", &T::name);
  field("up", &T::up);
  field("factor", &T::factor);
}
template <typename V>
void Describe(V& field, const PredictionResult*) {
  using T = PredictionResult;
  field("name", &T::name);
  field("up", &T::up);
  field("factor", &T::factor);
  field("before", &T::before);
  field("after", &T::after);
  field("held", &T::held);
}

template <typename V>
void Describe(V& field, const SupportedCause*) {
  using T = SupportedCause;
  field("sentence", &T::sentence);
  field("cites", &T::cites);
}

}  // namespace warpwright::skills
