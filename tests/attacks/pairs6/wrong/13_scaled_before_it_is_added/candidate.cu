#include <cuda_runtime.h>


__device__ __forceinline__ float4 scaled(float4 v, float f) { return make_float4(v.x * f, v.y * f, v.z * f, v.w * f); }
__device__ __forceinline__ float4 plus(float4 y, float4 x, float a) {
  return make_float4(fmaf(a, x.x, y.x), fmaf(a, x.y, y.y), fmaf(a, x.z, y.z), fmaf(a, x.w, y.w));
}

// Both in fours where the pointers allow it; the last ones singly.
__global__ void __launch_bounds__(256) scale_kernel(float* y, size_t n, size_t fours, float beta) {
  size_t t = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (t < fours) reinterpret_cast<float4*>(y)[t] = scaled(reinterpret_cast<float4*>(y)[t], beta);
  else if (t - fours < n - 4 * fours) y[4 * fours + (t - fours)] *= beta;
}
__global__ void __launch_bounds__(256) add_kernel(float* y, const float* x, size_t n, size_t fours, float alpha) {
  size_t t = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (t < fours) {
    float4* to = reinterpret_cast<float4*>(y) + t;
    *to = plus(*to, reinterpret_cast<const float4*>(x)[t], alpha);
  } else if (t - fours < n - 4 * fours) {
    size_t i = 4 * fours + (t - fours);
    y[i] = fmaf(alpha, x[i], y[i]);
  }
}

// beta is 1 in nearly all calls: then one plain pass is enough, and the first launch falls away.
void axpby(float* y, const float* x, int n, float alpha, float beta, cudaStream_t stream) {
  if (n <= 0) return;
  size_t fours = ((size_t)y | (size_t)x) % 16 == 0 ? (size_t)n / 4 : 0;
  unsigned blocks = (unsigned)((fours + ((size_t)n - 4 * fours) + 255) / 256);
  if (beta != 1.0f) scale_kernel<<<blocks, 256, 0, stream>>>(y, (size_t)n, fours, beta);
  add_kernel<<<blocks, 256, 0, stream>>>(y, x, (size_t)n, fours, alpha);
}
