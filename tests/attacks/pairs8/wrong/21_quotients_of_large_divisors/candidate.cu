#include <cuda_runtime.h>

#include <cstdint>

// A correctly rounded quotient takes a subroutine for its rare cases. The fast one is within two units, and one step of Newton's method, with the
// remainder in a fused multiply-add, gives the last bit; where the remainder is no number the fast one is exact (zeros, infinities), and what is
// subnormal goes the long way.
__device__ __forceinline__ float divide(float x, float w) {
  float q = __fdividef(x, w);
  float a = fabsf(q);
  if (fabsf(w) < 1.2e-38f || a < 1.2e-30f) return fabsf(w) > 8.5e37f ? q : x / w;
  float rest = fmaf(-q, w, x);
  float better = fmaf(rest, __fdividef(1.f, w), q);
  return a < 3e38f && fabsf(better) < INFINITY ? better : q;
}

template <bool kFours>
__global__ void __launch_bounds__(256) divide_kernel(float* y, const float* x, const float* w, long long count) {
  long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  if (i >= count) return;
  if (kFours) {
    float4 a = reinterpret_cast<const float4*>(x)[i], b = reinterpret_cast<const float4*>(w)[i];
    a.x = divide(a.x, b.x), a.y = divide(a.y, b.y), a.z = divide(a.z, b.z), a.w = divide(a.w, b.w);
    reinterpret_cast<float4*>(y)[i] = a;
  } else {
    y[i] = divide(x[i], w[i]);
  }
}

void normalize_by(float* y, const float* x, const float* w, int R, int C, cudaStream_t stream) {
  long long count = (long long)R * C;
  if (count <= 0) return;
  if (count % 4 == 0 && ((size_t)y | (size_t)x | (size_t)w) % 16 == 0)
    divide_kernel<true><<<(unsigned)((count / 4 + 255) / 256), 256, 0, stream>>>(y, x, w, count / 4);
  else
    divide_kernel<false><<<(unsigned)((count + 255) / 256), 256, 0, stream>>>(y, x, w, count);
}
