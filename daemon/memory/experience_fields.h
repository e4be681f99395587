// How experience is encoded (base/fields.h).
#pragma once

#include "base/fields.h"
#include "memory/experience.h"

namespace warpwright::memory {

template <typename V>
void Describe(V& field, const ExperienceKey*) {
  using T = ExperienceKey;
  field("chip", &T::chip);
  field("dtype", &T::dtype);
  field("operation", &T::operation);
  field("state", &T::state);
  field.Optional("form", &T::form);
  field.Optional("shape", &T::shape);
}
template <typename V>
void Describe(V& field, const Experience*) {
  using T = Experience;
  field.Inline(&T::key);
  field("method", &T::method);
  field.Optional("parameters", &T::parameters);
  field("outcome", &T::outcome);
  field("log_gain", &T::log_gain);
  field.Optional("spread", &T::spread);
  field("modelled", &T::modelled);
  field.Optional("kernel", &T::kernel);
  field.Optional("source", &T::source);
  field.Optional("toolchain", &T::toolchain);
  field.Optional("version", &T::version);
  field.Optional("time", &T::time);
}

}  // namespace warpwright::memory
