#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

// The bits of a number, made to rise with it, above the complement of its place: the largest of these is the first of the largest numbers. NaN is below
// everything, as is minus infinity, and zeros of both signs are one.
__device__ __forceinline__ unsigned long long packed(unsigned bits, int c) {
  unsigned magnitude = bits & 0x7fffu;
  if (magnitude > 0x7c00u || bits == 0xfc00u) return 0x00000000ffffffffull;
  unsigned key = magnitude == 0 ? 0x8000u : bits & 0x8000u ? 0x8000u - magnitude : 0x8000u + magnitude;
  return (unsigned long long)key << 32 | (0xffffffffu - (unsigned)c);
}

template <bool kWords>
__global__ void __launch_bounds__(128) argmax_kernel(int* best, const unsigned short* x, int C) {
  __shared__ unsigned long long warps[4];
  const unsigned short* from = x + (size_t)blockIdx.x * C;
  unsigned long long most = 0x00000000ffffffffull;
  if (kWords) {
    for (int w = threadIdx.x; w < C / 2; w += 128) {
      unsigned two = reinterpret_cast<const unsigned*>(from)[w];
      unsigned long long a = packed(two & 0xffffu, 2 * w), b = packed(two >> 16, 2 * w + 1);
      most = max(most, max(a, b));
    }
  } else {
    for (int c = threadIdx.x; c < C; c += 128) most = max(most, packed(from[c], c));
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) most = max(most, __shfl_xor_sync(~0u, most, d));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x == 0) best[blockIdx.x] = (int)(0xffffffffu - (unsigned)max(max(warps[0], warps[1]), max(warps[2], warps[3])));
}

void row_argmax(int* best, const __half* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  const auto* bits = reinterpret_cast<const unsigned short*>(x);
  if (C % 2 == 0 && (size_t)x % 4 == 0) argmax_kernel<true><<<R, 128, 0, stream>>>(best, bits, C);
  else argmax_kernel<false><<<R, 128, 0, stream>>>(best, bits, C);
}
