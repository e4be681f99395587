// NVIDIA's, under the standard names.
#pragma once
#include <cuda/std/complex>
namespace std {
using ::cuda::std::complex;
}
