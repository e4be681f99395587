#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// index (rows) of the largest half in each row of (rows, cols), the first one where several are equal. A warp per row.
__global__ void __launch_bounds__(128) argmax_kernel(int* index, const __half* x, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const __half* row = x + (size_t)r * cols;
  float best = -INFINITY;
  int at = 0;
  for (int j = lane; j < cols; j += 32) {
    float v = __half2float(row[j]);
    if (v > best) {
      best = v;
      at = j;
    }
  }
  for (int d = 16; d > 0; d /= 2) {
    float other = __shfl_down_sync(0xffffffffu, best, d);
    int other_at = __shfl_down_sync(0xffffffffu, at, d);
    if (other > best) {
      best = other;
      at = other_at;
    }
  }
  if (lane == 0) index[r] = at;
}

void argmax_half(int* index, const __half* x, int rows, int cols) {
  if (rows > 0) argmax_kernel<<<(rows + 3) / 4, 128>>>(index, x, rows, cols);
}
