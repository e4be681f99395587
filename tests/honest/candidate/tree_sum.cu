// One warp per row, four accumulators per lane, then shuffles: another order of the same additions.
#include <cuda_runtime.h>

__global__ void row_sum_kernel(float* out, const float* x, int N, int C) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float* p = x + (size_t)row * C;
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  int i = lane;
  for (; i + 96 < C; i += 128) {
    sum[0] += p[i];
    sum[1] += p[i + 32];
    sum[2] += p[i + 64];
    sum[3] += p[i + 96];
  }
  for (; i < C; i += 32) sum[0] += p[i];
  float total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(0xffffffffu, total, offset);
  if (lane == 0) out[row] = total;
}

void row_sum(float* out, const float* x, int N, int C) {
  row_sum_kernel<<<(N + 3) / 4, 128>>>(out, x, N, C);
}
