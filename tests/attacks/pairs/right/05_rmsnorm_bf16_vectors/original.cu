#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = x * rsqrt(mean(x^2) + eps) * weight by rows of a (rows, cols) bfloat16 array.
__global__ void rmsnorm_kernel(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight, int rows, int cols,
                               float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const __nv_bfloat16* row = x + (size_t)r * cols;
  float sum = 0.0f;
  for (int j = 0; j < cols; ++j) sum += __bfloat162float(row[j]) * __bfloat162float(row[j]);
  float scale = rsqrtf(sum / cols + eps);
  for (int j = 0; j < cols; ++j) {
    out[(size_t)r * cols + j] = __float2bfloat16(__bfloat162float(row[j]) * scale * __bfloat162float(weight[j]));
  }
}

void rmsnorm_bf16(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight, int rows, int cols, float eps) {
  rmsnorm_kernel<<<(rows + 63) / 64, 64>>>(out, x, weight, rows, cols, eps);
}
