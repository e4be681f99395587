#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Softmax over the last dimension of a (rows, cols) half array. A warp per row; pairs of elements where the row allows.
__device__ inline float warp_max(float v) {
  for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}
__device__ inline float warp_sum(float v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

__global__ void softmax_kernel(__half* out, const __half* x, int rows, int cols, bool pairs) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  const __half* row = x + (size_t)r * cols;
  __half* dst = out + (size_t)r * cols;
  float top = -INFINITY;
  for (int j = lane; j < cols; j += 32) top = fmaxf(top, __half2float(row[j]));
  top = warp_max(top);
  float sum = 0.0f;
  if (pairs) {
    const __half2* row2 = reinterpret_cast<const __half2*>(row);
    __half2 top2 = __float2half2_rn(top);
    for (int j = lane; j < cols / 2; j += 32) {
      float2 e = __half22float2(h2exp(__hsub2(row2[j], top2)));
      sum += e.x + e.y;
    }
    float inv = 1.0f / warp_sum(sum);
    for (int j = lane; j < cols / 2; j += 32) {
      float2 e = __half22float2(h2exp(__hsub2(row2[j], top2)));
      reinterpret_cast<__half2*>(dst)[j] = __floats2half2_rn(e.x * inv, e.y * inv);
    }
  } else {
    for (int j = lane; j < cols; j += 32) sum += expf(__half2float(row[j]) - top);
    sum = warp_sum(sum);
    for (int j = lane; j < cols; j += 32) dst[j] = __float2half(expf(__half2float(row[j]) - top) / sum);
  }
}

void softmax_half(__half* out, const __half* x, int rows, int cols) {
  bool pairs = cols % 2 == 0 && ((size_t)out | (size_t)x) % 4 == 0;
  softmax_kernel<<<(rows + 3) / 4, 128>>>(out, x, rows, cols, pairs);
}
