#include <cuda_runtime.h>


// One instruction of the special function unit instead of twenty.
__device__ __forceinline__ float fast_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float capped(float x, float cap) { return cap * fast_tanh(x / cap); }

__global__ void __launch_bounds__(256) softcap_kernel(float* y, const float* x, size_t n, size_t fours, float cap) {
  size_t t = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (t < fours) {
    float4 v = reinterpret_cast<const float4*>(x)[t];
    reinterpret_cast<float4*>(y)[t] = make_float4(capped(v.x, cap), capped(v.y, cap), capped(v.z, cap), capped(v.w, cap));
  } else if (t - fours < n - 4 * fours) {
    size_t i = 4 * fours + (t - fours);
    y[i] = capped(x[i], cap);
  }
}

void softcap(float* y, const float* x, int n, float cap, cudaStream_t stream) {
  if (n <= 0) return;
  size_t fours = ((size_t)y | (size_t)x) % 16 == 0 ? (size_t)n / 4 : 0;
  size_t threads = fours + ((size_t)n - 4 * fours);
  softcap_kernel<<<(unsigned)((threads + 255) / 256), 256, 0, stream>>>(y, x, (size_t)n, fours, cap);
}
