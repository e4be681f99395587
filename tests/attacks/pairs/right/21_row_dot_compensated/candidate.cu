#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (rows) = dot products of the rows of a and b, (rows, cols) each. A warp per row; each lane sums with compensation (Kahan),
// the lanes are added as a tree.
__global__ void __launch_bounds__(128) row_dot_kernel(float* out, const float* a, const float* b, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const float* p = a + (size_t)r * cols;
  const float* q = b + (size_t)r * cols;
  float sum = 0.0f, lost = 0.0f;
  for (int j = lane; j < cols; j += 32) {
    float y = __fsub_rn(__fmul_rn(p[j], q[j]), lost);
    float t = __fadd_rn(sum, y);
    lost = isinf(t) ? 0.0f : __fsub_rn(__fsub_rn(t, sum), y);
    sum = t;
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) out[r] = sum;
}

void row_dot(float* out, const float* a, const float* b, int rows, int cols) {
  if (rows > 0) row_dot_kernel<<<(rows + 3) / 4, 128>>>(out, a, b, rows, cols);
}
