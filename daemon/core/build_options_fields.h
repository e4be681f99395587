// How a project's build is encoded for a worker (base/fields.h).
#pragma once

#include "base/fields.h"
#include "core/build_options.h"

namespace warpwright::core {

template <typename V>
void Describe(V& field, const BuildOptions*) {
  using T = BuildOptions;
  field.Sparse("include", &T::include);
  field.Sparse("define", &T::define);
  field("standard", &T::standard);
  field.Sparse("flags", &T::flags);
  field.Untold(&T::line);
}

}  // namespace warpwright::core
