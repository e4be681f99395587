// out[i] = the sum over k of x[i + k] * w[k]: a convolution along one dimension.
#include <cuda_runtime.h>

__global__ void taps_kernel(float* out, const float* x, const float* w, int n, int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += x[i + k] * w[k];
  out[i] = sum;
}

void taps(float* out, const float* x, const float* w, int n, int K) {
  taps_kernel<<<(n + 127) / 128, 128>>>(out, x, w, n, K);
}
