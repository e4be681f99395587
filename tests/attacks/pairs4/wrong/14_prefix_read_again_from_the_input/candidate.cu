#include <cuda_runtime.h>


// y[b,t,c] = x[b,0,c] + ... + x[b,t,c] for x[B,T,C]. Chunks of 64 steps run in parallel: each sums what comes before it
// once more, which costs reads but no second kernel, and adds in the original's order.
__global__ void __launch_bounds__(64) cumsum_kernel(float* y, const float* x, int B, int T, int C, int chunks) {
  int i = blockIdx.x / chunks * 64 + threadIdx.x;
  if (i >= B * C) return;
  int begin = blockIdx.x % chunks * 64, end = begin + 64 < T ? begin + 64 : T;
  size_t at = (size_t)(i / C) * T * C + i % C;
  float sum = 0.0f;
#pragma unroll 8
  for (int t = 0; t < begin; ++t, at += C) sum += x[at];
  for (int t = begin; t < end; ++t, at += C) {
    sum += x[at];
    y[at] = sum;
  }
}

void cumsum_time(float* y, const float* x, int B, int T, int C, cudaStream_t stream) {
  if (B <= 0 || T <= 0 || C <= 0) return;
  int chunks = (T + 63) / 64;
  cumsum_kernel<<<chunks*((B * C + 63) / 64), 64, 0, stream>>>(y, x, B, T, C, chunks);
}
