#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = x * rsqrt(mean(x^2) + eps) * weight by rows of a (rows, cols) half array. Eight elements per thread and step.
__device__ inline float warp_sum(float v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

__device__ inline float squares(uint4 raw) {
  const __half2* h = reinterpret_cast<const __half2*>(&raw);
  __half2 s = __hmul2(h[0], h[0]);
  s = __hfma2(h[1], h[1], s);
  s = __hfma2(h[2], h[2], s);
  s = __hfma2(h[3], h[3], s);
  return __low2float(s) + __high2float(s);
}

__global__ void __launch_bounds__(128)
rmsnorm_kernel(__half* out, const __half* x, const __half* weight, int cols, float eps, bool vec) {
  __shared__ float partial[4];
  const __half* row = x + (size_t)blockIdx.x * cols;
  __half* dst = out + (size_t)blockIdx.x * cols;
  int body = vec ? cols / 8 : 0;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < body; j += 128) sum += squares(reinterpret_cast<const uint4*>(row)[j]);
  for (int j = body * 8 + threadIdx.x; j < cols; j += 128) {
    float v = __half2float(row[j]);
    sum += v * v;
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  float scale = rsqrtf((partial[0] + partial[1] + partial[2] + partial[3]) / cols + eps);
  for (int j = threadIdx.x; j < body; j += 128) {
    uint4 raw = reinterpret_cast<const uint4*>(row)[j];
    uint4 wraw = reinterpret_cast<const uint4*>(weight)[j];
    __half2* h = reinterpret_cast<__half2*>(&raw);
    const __half2* w = reinterpret_cast<const __half2*>(&wraw);
    for (int e = 0; e < 4; ++e) {
      float2 v = __half22float2(h[e]), g = __half22float2(w[e]);
      h[e] = __floats2half2_rn(v.x * scale * g.x, v.y * scale * g.y);
    }
    reinterpret_cast<uint4*>(dst)[j] = raw;
  }
  for (int j = body * 8 + threadIdx.x; j < cols; j += 128) {
    dst[j] = __float2half(__half2float(row[j]) * scale * __half2float(weight[j]));
  }
}

void rmsnorm_half(__half* out, const __half* x, const __half* weight, int rows, int cols, float eps) {
  bool vec = cols % 8 == 0 && ((size_t)out | (size_t)x | (size_t)weight) % 16 == 0;
  if (rows > 0) rmsnorm_kernel<<<rows, 128>>>(out, x, weight, cols, eps, vec);
}
