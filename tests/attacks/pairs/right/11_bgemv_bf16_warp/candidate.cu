#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// y (batch, rows) = A (batch, rows, cols) x (batch, cols), bfloat16 data and float sums. A warp per row, pairs of elements
// where rows and pointers are aligned to them.
__global__ void __launch_bounds__(128) bgemv_kernel(__nv_bfloat16* y, const __nv_bfloat16* a, const __nv_bfloat16* x,
                                                    long long total, int rows, int cols, bool pairs) {
  long long i = (long long)blockIdx.x * 4 + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (i >= total) return;
  const __nv_bfloat16* row = a + i * cols;
  const __nv_bfloat16* vec = x + i / rows * cols;
  float s0 = 0.0f, s1 = 0.0f;
  if (pairs) {
    for (int j = lane; j < cols / 2; j += 32) {
      float2 p = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(row)[j]);
      float2 q = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(vec)[j]);
      s0 = fmaf(p.x, q.x, s0);
      s1 = fmaf(p.y, q.y, s1);
    }
  } else {
    for (int j = lane; j < cols; j += 32) s0 = fmaf(__bfloat162float(row[j]), __bfloat162float(vec[j]), s0);
  }
  float sum = s0 + s1;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) y[i] = __float2bfloat16(sum);
}

void bgemv_bf16(__nv_bfloat16* y, const __nv_bfloat16* a, const __nv_bfloat16* x, int batch, int rows, int cols) {
  long long n = (long long)batch * rows;
  bool pairs = cols % 2 == 0 && ((size_t)a | (size_t)x) % 4 == 0;
  if (n > 0) bgemv_kernel<<<(unsigned)((n + 3) / 4), 128>>>(y, a, x, n, rows, cols, pairs);
}
