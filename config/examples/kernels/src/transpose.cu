// out (C, R) = transpose of inp (R, C).
#include "../include/common.cuh"

__global__ void transpose_kernel(float* out, const float* inp, int rows, int cols) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < cols && y < rows) {
    out[x * rows + y] = inp[y * cols + x];
  }
}

void transpose(float* out, const float* inp, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  transpose_kernel<<<grid, block>>>(out, inp, rows, cols);
  LAUNCH_CHECK();
}
