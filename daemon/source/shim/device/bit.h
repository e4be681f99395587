// NVIDIA's, under the standard names.
#pragma once
#include <cuda/std/bit>
namespace std {
using ::cuda::std::bit_cast;
using ::cuda::std::popcount;
}  // namespace std
