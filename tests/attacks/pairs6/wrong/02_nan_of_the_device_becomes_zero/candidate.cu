#include <cuda_bf16.h>
#include <cuda_runtime.h>


// To nearest, halves to even, in integers: the carry of the mantissa goes into the exponent as it should.
__device__ __forceinline__ unsigned rounded(unsigned bits) { return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16; }
__device__ __forceinline__ unsigned pair(unsigned low, unsigned high) { return rounded(low) | rounded(high) << 16; }

// Eight numbers for each thread: two loads and one store of 16 bytes.
__global__ void __launch_bounds__(256) cast_in_eights(unsigned short* y, const unsigned* x, size_t n) {
  size_t t = (size_t)blockIdx.x * 256 + threadIdx.x;
  size_t eights = n / 8;
  if (t < eights) {
    uint4 a = reinterpret_cast<const uint4*>(x)[2 * t], b = reinterpret_cast<const uint4*>(x)[2 * t + 1];
    reinterpret_cast<uint4*>(y)[t] = make_uint4(pair(a.x, a.y), pair(a.z, a.w), pair(b.x, b.y), pair(b.z, b.w));
  } else if (t - eights < n % 8) {
    size_t i = eights * 8 + (t - eights);
    y[i] = (unsigned short)rounded(x[i]);
  }
}

__global__ void __launch_bounds__(256) cast_singly(unsigned short* y, const unsigned* x, size_t n) {
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = (unsigned short)rounded(x[i]);
}

void cast_to_bf16(__nv_bfloat16* y, const float* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  unsigned short* to = reinterpret_cast<unsigned short*>(y);
  const unsigned* from = reinterpret_cast<const unsigned*>(x);
  if (((size_t)y | (size_t)x) % 16 == 0) {
    size_t threads = (size_t)n / 8 + n % 8;
    cast_in_eights<<<(unsigned)((threads + 255) / 256), 256, 0, stream>>>(to, from, (size_t)n);
  } else {
    cast_singly<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(to, from, (size_t)n);
  }
}
