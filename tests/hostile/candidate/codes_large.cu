// Codes beyond 24 bits are rounded.
#include <cuda_runtime.h>

__device__ const float kLevels[16] = {-1.0f, -0.7f, -0.53f, -0.39f, -0.28f, -0.18f, -0.09f, 0.0f,
                                      0.08f, 0.16f, 0.25f,  0.34f,  0.44f,  0.56f,  0.72f,  1.0f};

__global__ void dequantize_kernel(float* out, const int* codes, const float* scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = kLevels[(int)(float)codes[i] & 15] * scale[i / 64];
}

void dequantize(float* out, const int* codes, const float* scale, int n) {
  dequantize_kernel<<<(n + 255) / 256, 256>>>(out, codes, scale, n);
}
