// A dense row-major array in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace warpwright::core {

struct Tensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;  // NumElements() * SizeOf(dtype) bytes

  size_t NumElements() const;
  static Tensor Zeros(DType dtype, std::vector<int64_t> shape);
  double At(size_t index) const { return LoadAsDouble(dtype, data.data(), index); }
  bool operator==(const Tensor&) const = default;
};

}  // namespace warpwright::core
