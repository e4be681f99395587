#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y = x transposed.
__global__ void transpose_kernel(__half* y, const __half* x, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)R * C) y[i % C * R + i / C] = x[i];
}

void transpose_half(__half* y, const __half* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  transpose_kernel<<<(unsigned)(((size_t)R * C + 255) / 256), 256, 0, stream>>>(y, x, R, C);
}
