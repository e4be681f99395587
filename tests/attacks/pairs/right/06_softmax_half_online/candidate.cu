#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Softmax over the last dimension of a (rows, cols) half array: a warp per row, maximum and sum in one pass.
struct Part {
  float top, sum;
};

__device__ inline Part merge(Part a, Part b) {
  float top = fmaxf(a.top, b.top);
  float x = a.top == top ? a.sum : a.sum * expf(a.top - top);
  float y = b.top == top ? b.sum : b.sum * expf(b.top - top);
  return {top, x + y};
}

__global__ void __launch_bounds__(128) softmax_kernel(__half* out, const __half* x, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const __half* row = x + (size_t)r * cols;
  Part p = {-INFINITY, 0.0f};
  for (int j = lane; j < cols; j += 32) {
    float v = __half2float(row[j]);
    if (v > p.top) {
      p.sum = p.sum * expf(p.top - v) + expf(v - v);
      p.top = v;
    } else if (v != -INFINITY) {
      p.sum += expf(v - p.top);
    }
  }
  for (int d = 16; d > 0; d >>= 1) {
    Part q = {__shfl_xor_sync(0xffffffffu, p.top, d), __shfl_xor_sync(0xffffffffu, p.sum, d)};
    p = merge(p, q);
  }
  float inv = 1.0f / p.sum;
  for (int j = lane; j < cols; j += 32) out[(size_t)r * cols + j] = __float2half(expf(__half2float(row[j]) - p.top) * inv);
}

void softmax_half(__half* out, const __half* x, int rows, int cols) {
  softmax_kernel<<<(rows + 3) / 4, 128>>>(out, x, rows, cols);
}
