// For tests that change contents, which are otherwise shared and immutable.
#pragma once

#include "base/bytes.h"
#include "core/tensor.h"

namespace warpwright {

inline void StoreIn(base::Bytes& bytes, core::DType dtype, size_t index, double value) {
  std::vector<std::byte> changed = bytes.Copy();
  core::StoreFromDouble(dtype, changed.data(), index, value);
  bytes = std::move(changed);
}

}  // namespace warpwright
