#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// A slope of zero is the usual ReLU, and needs no floating-point arithmetic at all: what has its sign bit set becomes zero.
template <bool kZero>
__device__ __forceinline__ uint32_t two(uint32_t bits, float slope) {
  if (kZero) {
    uint32_t negative = __vcmpgts2(0u, bits);
    return bits & ~negative;
  }
  float low = __uint_as_float(bits << 16), high = __uint_as_float(bits & 0xffff0000u);
  low = low > 0 ? low : slope * low;
  high = high > 0 ? high : slope * high;
  __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<uint32_t*>(&both);
}

template <bool kZero, bool kWords>
__global__ void __launch_bounds__(256) leaky_kernel(uint16_t* y, const uint16_t* x, int n, float slope) {
  long long i = 2 * ((long long)blockIdx.x * 256 + threadIdx.x);
  if (i >= n) return;
  if (kWords) {
    *reinterpret_cast<uint32_t*>(y + i) = two<kZero>(*reinterpret_cast<const uint32_t*>(x + i), slope);
  } else {
    uint32_t bits = two<kZero>(x[i] | (i + 1 < n ? (uint32_t)x[i + 1] << 16 : 0u), slope);
    y[i] = (uint16_t)bits;
    if (i + 1 < n) y[i + 1] = (uint16_t)(bits >> 16);
  }
}

void leaky_relu(__nv_bfloat16* y, const __nv_bfloat16* x, int n, float slope, cudaStream_t stream) {
  if (n <= 0) return;
  unsigned blocks = (unsigned)(((long long)n + 511) / 512);
  bool words = n % 2 == 0 && ((size_t)y | (size_t)x) % 4 == 0;
  auto* to = reinterpret_cast<uint16_t*>(y);
  auto* from = reinterpret_cast<const uint16_t*>(x);
  if (slope == 0) {
    if (words) leaky_kernel<true, true><<<blocks, 256, 0, stream>>>(to, from, n, slope);
    else leaky_kernel<true, false><<<blocks, 256, 0, stream>>>(to, from, n, slope);
  } else {
    if (words) leaky_kernel<false, true><<<blocks, 256, 0, stream>>>(to, from, n, slope);
    else leaky_kernel<false, false><<<blocks, 256, 0, stream>>>(to, from, n, slope);
  }
}
