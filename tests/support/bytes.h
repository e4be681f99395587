// Contents that are shared and never change, for tests that change them.
#pragma once

#include "base/bytes.h"
#include "core/tensor.h"

namespace warpwright {

inline void StoreIn(Bytes& bytes, DType dtype, size_t index, double value) {
  std::vector<std::byte> changed = bytes.Copy();
  StoreFromDouble(dtype, changed.data(), index, value);
  bytes = std::move(changed);
}

}  // namespace warpwright
