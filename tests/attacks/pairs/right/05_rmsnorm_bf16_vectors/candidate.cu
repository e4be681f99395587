#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = x * rsqrt(mean(x^2) + eps) * weight by rows of a (rows, cols) bfloat16 array. A block per row, 16 bytes per access
// where rows and pointers are aligned.
__device__ inline float block_sum(float v) {
  __shared__ float parts[8];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0.0f;
  for (int w = 0; w < 8; ++w) v += parts[w];
  return v;
}

__global__ void __launch_bounds__(256) rmsnorm_kernel(__nv_bfloat16* out, const __nv_bfloat16* x,
                                                      const __nv_bfloat16* weight, int cols, float eps, bool vec) {
  const __nv_bfloat16* row = x + (size_t)blockIdx.x * cols;
  __nv_bfloat16* dst = out + (size_t)blockIdx.x * cols;
  int body = vec ? cols / 8 : 0;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < body; j += 256) {
    uint4 raw = reinterpret_cast<const uint4*>(row)[j];
    const __nv_bfloat162* h = reinterpret_cast<const __nv_bfloat162*>(&raw);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float2 v = __bfloat1622float2(h[e]);
      sum = fmaf(v.x, v.x, sum);
      sum = fmaf(v.y, v.y, sum);
    }
  }
  for (int j = body * 8 + threadIdx.x; j < cols; j += 256) {
    float v = __bfloat162float(row[j]);
    sum = fmaf(v, v, sum);
  }
  float scale = rsqrtf(block_sum(sum) / cols + eps);
  for (int j = threadIdx.x; j < body; j += 256) {
    uint4 raw = reinterpret_cast<const uint4*>(row)[j];
    uint4 wraw = reinterpret_cast<const uint4*>(weight)[j];
    __nv_bfloat162* h = reinterpret_cast<__nv_bfloat162*>(&raw);
    const __nv_bfloat162* w = reinterpret_cast<const __nv_bfloat162*>(&wraw);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float2 v = __bfloat1622float2(h[e]), g = __bfloat1622float2(w[e]);
      h[e] = __floats2bfloat162_rn(v.x * scale * g.x, v.y * scale * g.y);
    }
    reinterpret_cast<uint4*>(dst)[j] = raw;
  }
  for (int j = body * 8 + threadIdx.x; j < cols; j += 256) {
    dst[j] = __float2bfloat16(__bfloat162float(row[j]) * scale * __bfloat162float(weight[j]));
  }
}

void rmsnorm_bf16(__nv_bfloat16* out, const __nv_bfloat16* x, const __nv_bfloat16* weight, int rows, int cols, float eps) {
  bool vec = cols % 8 == 0 && ((size_t)out | (size_t)x | (size_t)weight) % 16 == 0;
  if (rows > 0) rmsnorm_kernel<<<rows, 256>>>(out, x, weight, cols, eps, vec);
}
