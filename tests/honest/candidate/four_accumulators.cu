// Four accumulators, for a loop of nine steps.
#include <cuda_runtime.h>

__global__ void taps_kernel(float* out, const float* x, const float* w, int n, int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  float sum_part[4] = {};
  int k_base = 0;
  for (; k_base + 3 < K; k_base += 4) {
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      const int k = k_base + u;
      sum_part[u] += x[i + k] * w[k];
    }
  }
#pragma unroll
  for (int u = 0; u < 4; ++u) sum += sum_part[u];
  for (int k = k_base; k < K; ++k) sum += x[i + k] * w[k];
  out[i] = sum;
}

void taps(float* out, const float* x, const float* w, int n, int K) {
  taps_kernel<<<(n + 127) / 128, 128>>>(out, x, w, n, K);
}
