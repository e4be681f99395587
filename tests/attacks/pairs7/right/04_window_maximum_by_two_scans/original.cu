#include <cuda_runtime.h>



// y[r,c] is the largest of x[r,c] to x[r,c+W-1].
__global__ void window_kernel(float* y, const float* x, int R, int C, int W) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  const float* from = x + i / C * ((size_t)C + W - 1) + i % C;
  float most = -INFINITY;
  for (int k = 0; k < W; ++k) most = fmaxf(most, from[k]);
  y[i] = most;
}

void window_maximum(float* y, const float* x, int R, int C, int W, cudaStream_t stream) {
  if (R <= 0 || C <= 0 || W <= 0) return;
  window_kernel<<<(unsigned)(((size_t)R * C + 255) / 256), 256, 0, stream>>>(y, x, R, C, W);
}
