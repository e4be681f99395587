// Four sums, for a loop of nine steps.
#include <cuda_runtime.h>

__global__ void taps_kernel(float* out, const float* x, const float* w, int n, int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
  int k = 0;
  for (; k + 3 < K; k += 4) {
    s0 += x[i + k] * w[k];
    s1 += x[i + k + 1] * w[k + 1];
    s2 += x[i + k + 2] * w[k + 2];
    s3 += x[i + k + 3] * w[k + 3];
  }
  for (; k < K; ++k) s0 += x[i + k] * w[k];
  out[i] = (s0 + s1) + (s2 + s3);
}

void taps(float* out, const float* x, const float* w, int n, int K) {
  taps_kernel<<<(n + 127) / 128, 128>>>(out, x, w, n, K);
}
