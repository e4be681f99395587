#include <cuda_runtime.h>


__device__ __forceinline__ unsigned long long mixed(unsigned long long z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}
__device__ __forceinline__ float dropped(float x, unsigned seed, size_t i, float keep) {
  unsigned long long drawn = mixed(seed + 0x9e3779b97f4a7c15ull * (i + 1));
  return (float)(drawn >> 40) * 0x1p-24f < keep ? x / keep : 0.0f;
}

// Four for each thread where the pointers allow it.
__global__ void __launch_bounds__(256)
    dropout_kernel(float* y, const float* x, size_t n, size_t fours, unsigned seed, float keep) {
  size_t t = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (t < fours) {
    float4 v = reinterpret_cast<const float4*>(x)[t];
    size_t i = 4 * t;
    v.x = dropped(v.x, seed, i, keep);
    v.y = dropped(v.y, seed, i + 1, keep);
    v.z = dropped(v.z, seed, i + 2, keep);
    v.w = dropped(v.w, seed, i + 3, keep);
    reinterpret_cast<float4*>(y)[t] = v;
  } else if (t - fours < n - 4 * fours) {
    size_t i = 4 * fours + (t - fours);
    y[i] = dropped(x[i], seed, i, keep);
  }
}

void dropout(float* y, const float* x, int n, long long seed, float keep, cudaStream_t stream) {
  if (n <= 0) return;
  size_t fours = ((size_t)y | (size_t)x) % 16 == 0 ? (size_t)n / 4 : 0;
  unsigned blocks = (unsigned)((fours + ((size_t)n - 4 * fours) + 255) / 256);
  dropout_kernel<<<blocks, 256, 0, stream>>>(y, x, (size_t)n, fours, (unsigned)seed, keep);
}
