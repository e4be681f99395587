// NVIDIA's, under the standard names.
#pragma once
#include <cuda/std/array>
namespace std {
using ::cuda::std::array;
}
