#include <cuda_runtime.h>



// y[r,c] = sum of w[k] x[r,c+k]. Each voice has a filter and a stream of its own.
__global__ void filter_kernel(float* y, const float* x, const float* w, int R, int C, int K) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  size_t r = i / C, c = i % C;
  const float* from = x + r * ((size_t)C + K - 1) + c;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += w[k] * from[k];
  y[i] = sum;
}

void filter_rows(float* y, const float* x, const float* w, int R, int C, int K, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  filter_kernel<<<(unsigned)(((size_t)R * C + 255) / 256), 256, 0, stream>>>(y, x, w, R, C, K);
}
