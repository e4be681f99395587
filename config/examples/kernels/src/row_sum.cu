// out (N) = sum over the rows of inp (N, C).
#include "../include/common.cuh"

static __global__ void row_sum_kernel(float* out, const float* inp, int N, int C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < N) {
    float total = 0.f;
    for (int c = 0; c < C; c++) total += inp[(size_t)row * C + c];
    out[row] = total;
  }
}

void row_sum(float* out, const float* inp, int N, int C) {
  int threads = 128;
  int blocks = ceil_div(N, threads);
  row_sum_kernel<<<blocks, threads>>>(out, inp, N, C);
  LAUNCH_CHECK();
}
