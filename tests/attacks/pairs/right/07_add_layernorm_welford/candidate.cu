#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = layernorm(a + b) * gamma + beta by rows of (rows, cols) half arrays. A warp per row: mean and deviations in one pass
// (Welford), lanes merged by Chan's formula.
struct Moments {
  float count, mean, m2;
};

__device__ inline Moments merge(Moments a, Moments b) {
  float count = a.count + b.count;
  if (count == 0.0f) return a;
  float delta = b.mean - a.mean, part = b.count / count;
  return {count, a.mean + delta * part, a.m2 + b.m2 + delta * delta * a.count * part};
}

__global__ void __launch_bounds__(128)
add_layernorm_kernel(__half* out, const __half* a, const __half* b, const __half* gamma, const __half* beta, int rows,
                     int cols, float eps) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  size_t base = (size_t)r * cols;
  auto value = [&](int j) { return __half2float(a[base + j]) + __half2float(b[base + j]); };
  Moments m = {0.0f, 0.0f, 0.0f};
  for (int j = lane; j < cols; j += 32) {
    float v = value(j), delta = v - m.mean;
    m.count += 1.0f;
    m.mean += delta / m.count;
    m.m2 = fmaf(delta, v - m.mean, m.m2);
  }
  for (int d = 1; d < 32; d *= 2) {
    Moments o = {__shfl_down_sync(0xffffffffu, m.count, d), __shfl_down_sync(0xffffffffu, m.mean, d),
                 __shfl_down_sync(0xffffffffu, m.m2, d)};
    m = merge(m, o);
  }
  float mean = __shfl_sync(0xffffffffu, m.mean, 0);
  float inv = rsqrtf(__shfl_sync(0xffffffffu, m.m2, 0) / cols + eps);
  for (int j = lane; j < cols; j += 32) {
    out[base + j] = __float2half((value(j) - mean) * inv * __half2float(gamma[j]) + __half2float(beta[j]));
  }
}

void add_layernorm(__half* out, const __half* a, const __half* b, const __half* gamma, const __half* beta, int rows, int cols,
                   float eps) {
  add_layernorm_kernel<<<(rows + 3) / 4, 128>>>(out, a, b, gamma, beta, rows, cols, eps);
}
