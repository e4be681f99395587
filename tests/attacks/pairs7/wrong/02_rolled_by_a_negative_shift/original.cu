#include <cuda_runtime.h>



// y[r,c] = x[r,c - shift], around the ends; shift may have either sign and any size, as that of torch.roll.
__global__ void roll_kernel(float* y, const float* x, int R, int C, int shift) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  size_t r = i / C;
  int c = (int)(i % C);
  int from = (int)(((long long)c - shift) % C);
  if (from < 0) from += C;
  y[i] = x[r * C + from];
}

void roll_rows(float* y, const float* x, int R, int C, int shift, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  roll_kernel<<<(unsigned)(((size_t)R * C + 255) / 256), 256, 0, stream>>>(y, x, R, C, shift);
}
