#include <cuda_runtime.h>


// q = saturate(round(x / scale) + zero) with a scale per channel; halves go to the even neighbour.
__global__ void quantize_kernel(signed char* q, const float* x, const float* scale, int zero, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  float v = rintf(x[i] / scale[i % C]) + zero;
  q[i] = (signed char)(int)fminf(fmaxf(v, -128.0f), 127.0f);
}

void quantize_int8(signed char* q, const float* x, const float* scale, int zero, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  quantize_kernel<<<(unsigned)(((size_t)R * C + 255) / 256), 256, 0, stream>>>(q, x, scale, zero, R, C);
}
