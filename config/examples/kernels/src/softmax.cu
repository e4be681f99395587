// Softmax over the last dimension of a row-major (N, C) array.
#include "../include/common.cuh"

__global__ void softmax_forward_kernel(float* out, const float* inp, int N, int C) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    const float* inp_row = inp + i * C;
    float* out_row = out + i * C;

    float maxval = -INFINITY;
    for (int j = 0; j < C; j++) {
      if (inp_row[j] > maxval) {
        maxval = inp_row[j];
      }
    }
    float sum = 0.0f;
    for (int j = 0; j < C; j++) {
      out_row[j] = expf(inp_row[j] - maxval);
      sum += out_row[j];
    }
    for (int j = 0; j < C; j++) {
      out_row[j] /= sum;
    }
  }
}

void softmax_forward(float* out, const float* inp, int N, int C) {
  const int block_size = 256;
  const int grid_size = ceil_div(N, block_size);
  softmax_forward_kernel<<<grid_size, block_size>>>(out, inp, N, C);
  LAUNCH_CHECK();
}
