#include <cuda_runtime.h>

#include <cstdint>

// A warp for each row. Where rows begin at 16 bytes, 16 products of a lane are four dp4a.
__device__ __forceinline__ int warp_sum(int v) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

__global__ void __launch_bounds__(256) units_kernel(int* y, const int4* w, const int4* x, int R, int units) {
  long long r = (long long)blockIdx.x * 8 + threadIdx.x / 32;
  if (r >= R) return;
  int sum = 0;
#pragma unroll 4
  for (int u = threadIdx.x % 32; u < units; u += 32) {
    int4 a = __ldcs(w + r * units + u), b = x[u];
    sum = __dp4a(a.x, b.x, sum);
    sum = __dp4a(a.y, b.y, sum);
    sum = __dp4a(a.z, b.z, sum);
    sum = __dp4a(a.w, b.w, sum);
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) y[r] = sum;
}

__global__ void __launch_bounds__(256) bytes_kernel(int* y, const int8_t* w, const int8_t* x, int R, int C) {
  long long r = (long long)blockIdx.x * 8 + threadIdx.x / 32;
  if (r >= R) return;
  int sum = 0;
  for (int c = threadIdx.x % 32; c < C; c += 32) sum += w[r * C + c] * x[c];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) y[r] = sum;
}

void int8_gemv(int* y, const int8_t* w, const int8_t* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  unsigned blocks = (unsigned)(((long long)R + 7) / 8);
  if (C % 16 == 0 && ((size_t)w | (size_t)x) % 16 == 0)
    units_kernel<<<blocks, 256, 0, stream>>>(y, (const int4*)w, (const int4*)x, R, C / 16);
  else
    bytes_kernel<<<blocks, 256, 0, stream>>>(y, w, x, R, C);
}
