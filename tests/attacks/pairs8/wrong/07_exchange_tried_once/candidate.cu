#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// There is no atomic maximum of floats: exchange the bits if they are still what they were.
__device__ __forceinline__ void atomic_max(float* to, float value) {
  unsigned* bits = reinterpret_cast<unsigned*>(to);
  unsigned old = atomicAdd(bits, 0u);
  if (__uint_as_float(old) < value) atomicCAS(bits, old, __float_as_uint(value));
}

// Long rows in parts of 2048, so that few of them fill the device.
__global__ void __launch_bounds__(256) amax_kernel(float* amax, const __nv_bfloat16* x, int C, unsigned parts) {
  __shared__ float warps[8];
  unsigned row = blockIdx.x / parts, part = blockIdx.x % parts;
  const __nv_bfloat16* from = x + (size_t)row * C;
  float m = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    long long c = (long long)part * 2048 + j * 256 + threadIdx.x;
    if (c < C) m = fmaxf(m, fabsf(__bfloat162float(from[c])));
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x > 0) return;
#pragma unroll
  for (int w = 1; w < 8; ++w) m = fmaxf(m, warps[w]);
  atomic_max(&amax[row], m);
}

__global__ void __launch_bounds__(256) quantize_kernel(int8_t* q, const float* amax, const __nv_bfloat16* x, int R, int C) {
  long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  if (i >= (long long)R * C) return;
  float m = amax[i / C], v = m > 0 ? __bfloat162float(x[i]) / m * 127.f : 0.f;
  q[i] = (int8_t)fminf(fmaxf(rintf(v), -127.f), 127.f);
}

void quantize_row_max(int8_t* q, float* amax, const __nv_bfloat16* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  unsigned parts = (unsigned)(((size_t)C + 2047) / 2048);
  cudaMemsetAsync(amax, 0, sizeof(float) * R, stream);
  amax_kernel<<<parts * (unsigned)R, 256, 0, stream>>>(amax, x, C, parts);
  quantize_kernel<<<(unsigned)(((long long)R * C + 255) / 256), 256, 0, stream>>>(q, amax, x, R, C);
}
