#include <cuda_runtime.h>


// y[r,c] = x[r,c] / scale[r]; a row whose scale is 0 (nothing was measured in it) becomes 0.
__global__ void unscale_kernel(float* y, const float* x, const float* scale, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  float s = scale[i / C];
  y[i] = s > 0.0f ? x[i] / s : 0.0f;
}

void unscale_rows(float* y, const float* x, const float* scale, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  unscale_kernel<<<(unsigned)(((size_t)R * C + 255) / 256), 256, 0, stream>>>(y, x, scale, R, C);
}
