#include <cuda_runtime.h>



// sum = a + b, and y is its rows by their root mean squares. Who needs y alone passes it for sum as well.
__global__ void add_norm_kernel(float* y, float* sum, const float* a, const float* b, int C, float eps) {
  __shared__ float parts[256];
  size_t row = (size_t)blockIdx.x * C;
  int t = threadIdx.x;
  float squares = 0.0f;
  for (int c = t; c < C; c += 256) {
    float v = a[row + c] + b[row + c];
    sum[row + c] = v;
    squares += v * v;
  }
  parts[t] = squares;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) parts[t] += parts[t + half];
    __syncthreads();
  }
  float factor = rsqrtf(parts[0] / C + eps);
  for (int c = t; c < C; c += 256) y[row + c] = sum[row + c] * factor;
}

void add_norm(float* y, float* sum, const float* a, const float* b, int R, int C, float eps, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  add_norm_kernel<<<R, 256, 0, stream>>>(y, sum, a, b, C, eps);
}
