#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <cstdint>

// 1024 outputs of a row for each block, four neighbours for each thread. 64 taps at a time: they and the inputs that they need are copied to
// shared memory by cp.async while the taps before are at work.
constexpr int kOut = 1024, kTaps = 64, kIn = kOut + kTaps;

struct Stage {
  float x[kIn], w[kTaps];
};

__device__ __forceinline__ void begin_stage(Stage& s, const float* row, const float* w, long long c0, int t0, int C, int T) {
  // s.x[k] is x[c0 - t0 - kTaps + k].
  for (int k = threadIdx.x; k < kIn; k += 256) {
    long long c = c0 - t0 - kTaps + k;
    if (c >= 0 && c < C) __pipeline_memcpy_async(&s.x[k], row + c, 4);
    else s.x[k] = 0.f;
  }
  for (int k = threadIdx.x; k < kTaps; k += 256) {
    if (t0 + k < T) __pipeline_memcpy_async(&s.w[k], w + t0 + k, 4);
    else s.w[k] = 0.f;
  }
  __pipeline_commit();
}

__global__ void __launch_bounds__(256) fir_kernel(float* y, const float* x, const float* w, int C, int T, unsigned across) {
  __shared__ Stage stages[2];
  const float* row = x + (size_t)(blockIdx.x / across) * C;
  long long c0 = (long long)(blockIdx.x % across) * kOut;
  float sum[4] = {};
  begin_stage(stages[0], row, w, c0, 0, C, T);
  for (int t0 = 0, n = 0; t0 < T; t0 += kTaps, n ^= 1) {
    bool more = t0 + kTaps < T;
    if (more) begin_stage(stages[n ^ 1], row, w, c0, t0 + kTaps, C, T);
    if (more) __pipeline_wait_prior(1);
    else __pipeline_wait_prior(0);
    __syncthreads();
    const Stage& s = stages[n];
    int at = kTaps + threadIdx.x, most = T - t0 < kTaps ? T - t0 : kTaps;
    for (int t = 0; t < most; ++t) {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        // Before the row's first element there is nothing, not a zero: a tap may be infinite.
        if (c0 + threadIdx.x + 256 * j >= t0 + t) sum[j] += s.w[t] * s.x[at + 256 * j - t];
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    long long c = c0 + threadIdx.x + 256 * j;
    if (c < C) y[(size_t)(blockIdx.x / across) * C + c] = sum[j];
  }
}

void fir_rows(float* y, const float* x, const float* w, int R, int C, int T, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  unsigned across = (unsigned)(((long long)C + kOut - 1) / kOut);
  fir_kernel<<<across * (unsigned)R, 256, 0, stream>>>(y, x, w, C, T, across);
}
