#include <cuda_runtime.h>


__device__ __forceinline__ void multiply_add(float2& s, float ax, float ay, float bx, float by) {
  s.x += ax * bx - ay * by;
  s.y += ax * by + ay * bx;
}

// A warp has a row. Two numbers per access where rows begin at a multiple of 16 bytes.
template <bool kPairs>
__global__ void __launch_bounds__(128)
    cgemv_kernel(float2* y, const float2* __restrict__ A, const float2* __restrict__ x, int M, int N) {
  int m = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (m >= M) return;  // whole warps
  float2 s = make_float2(0.0f, 0.0f);
  const float2* row = A + (size_t)m * N;
  if (kPairs) {
    for (int n = lane; n < N / 2; n += 32) {
      float4 a = ((const float4*)row)[n], b = ((const float4*)x)[n];
      multiply_add(s, a.x, a.y, b.x, b.y);
      multiply_add(s, a.z, a.w, b.z, b.w);
    }
  } else {
    for (int n = lane; n < N; n += 32) {
      float2 a = row[n], b = x[n];
      multiply_add(s, a.x, a.y, b.x, b.y);
    }
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) {
    s.x += __shfl_down_sync(0xffffffffu, s.x, o);
    s.y += __shfl_down_sync(0xffffffffu, s.y, o);
  }
  if (lane == 0) y[m] = s;
}

void cgemv(float2* y, const float2* A, const float2* x, int M, int N, cudaStream_t stream) {
  if (M <= 0) return;
  if (N % 2 == 0 && ((size_t)A | (size_t)x) % 16 == 0)
    cgemv_kernel<true><<<(M + 3) / 4, 128, 0, stream>>>(y, A, x, M, N);
  else
    cgemv_kernel<false><<<(M + 3) / 4, 128, 0, stream>>>(y, A, x, M, N);
}
