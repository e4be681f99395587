#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (rows) = mean of the first lengths[row] elements of each row of (rows, cols); 0 where the length is 0. A warp per row.
__global__ void __launch_bounds__(128)
ragged_mean_kernel(float* out, const float* x, const int* lengths, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  int length = lengths[r];
  if (lane >= length) return;
  unsigned active = length >= 32 ? 0xffffffffu : (1u << length) - 1;
  const float* row = x + (size_t)r * cols;
  float sum = 0.0f;
  for (int j = lane; j < length; j += 32) sum += row[j];
  for (int d = 16; d > 0; d /= 2) {
    float other = __shfl_down_sync(active, sum, d);
    if (lane + d < length) sum += other;
  }
  if (lane == 0) out[r] = sum / length;
}

void ragged_mean(float* out, const float* x, const int* lengths, int rows, int cols) {
  if (rows > 0) ragged_mean_kernel<<<(rows + 3) / 4, 128>>>(out, x, lengths, rows, cols);
}
