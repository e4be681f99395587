#include "core/tensor.h"

namespace warpwright::core {

size_t Tensor::NumElements() const {
  size_t count = 1;
  for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
  return count;
}

Tensor Tensor::Zeros(DType dtype, std::vector<int64_t> shape) {
  Tensor tensor{dtype, std::move(shape), {}};
  tensor.data.resize(tensor.NumElements() * SizeOf(dtype));
  return tensor;
}

}  // namespace warpwright::core
