#include <cuda_runtime.h>


// y[r,c] = scale[r] * q[r,c]. The project builds on x86-64 and on Grace (aarch64).
__global__ void dequantize_kernel(float* y, const signed char* q, const float* scale, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)R * C) y[i] = scale[i / C] * q[i];
}

void dequantize(float* y, const signed char* q, const float* scale, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  dequantize_kernel<<<(unsigned)(((size_t)R * C + 255) / 256), 256, 0, stream>>>(y, q, scale, R, C);
}
