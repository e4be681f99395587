#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out[i] = sum of w[k + radius] * x[i + k] for |k| <= radius, zeros outside of x (n floats).
__global__ void conv1d_kernel(float* out, const float* x, const float* w, int n, int radius) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = -radius; k <= radius; ++k) {
    if (i + k >= 0 && i + k < n) sum += w[k + radius] * x[i + k];
  }
  out[i] = sum;
}

void conv1d(float* out, const float* x, const float* w, int n, int radius) {
  if (n > 0) conv1d_kernel<<<(n + 255) / 256, 256>>>(out, x, w, n, radius);
}
