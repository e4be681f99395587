// How the parts of launch plans are encoded (base/fields.h).
#pragma once

#include "base/fields.h"
#include "core/launch_plan.h"

namespace warpwright::core {

template <typename V>
void Describe(V& field, const Dim3*) {
  using T = Dim3;
  field("x", &T::x);
  field("y", &T::y);
  field("z", &T::z);
}
template <typename V>
void Describe(V& field, const DevicePointer*) {
  using T = DevicePointer;
  field("buffer", &T::buffer);
  field("offset", &T::offset);
}

}  // namespace warpwright::core
