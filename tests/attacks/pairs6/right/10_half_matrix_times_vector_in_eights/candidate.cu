#include <cuda_fp16.h>
#include <cuda_runtime.h>


struct Pairs {
  __half2 h[4];
};

// A warp for each row. Eight halves of row and vector at a time where both begin at multiples of 16 bytes in every row; the rest
// singly. Products and sums are in float.
__global__ void __launch_bounds__(256)
    gemv_kernel(__half* y, const __half* A, const __half* x, int M, int K, int pitch, int eights) {
  size_t m = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
  if (m >= (size_t)M) return;
  int lane = threadIdx.x % 32;
  const __half* row = A + m * pitch;
  float even = 0.0f, odd = 0.0f;
  for (int e = lane; e < eights; e += 32) {
    uint4 raw_a = reinterpret_cast<const uint4*>(row)[e], raw_x = reinterpret_cast<const uint4*>(x)[e];
    const Pairs a = *reinterpret_cast<const Pairs*>(&raw_a), b = *reinterpret_cast<const Pairs*>(&raw_x);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float2 u = __half22float2(a.h[j]), v = __half22float2(b.h[j]);
      even = fmaf(u.x, v.x, even);
      odd = fmaf(u.y, v.y, odd);
    }
  }
  for (size_t k = (size_t)eights * 8 + lane; k < (size_t)K; k += 32) even = fmaf(__half2float(row[k]), __half2float(x[k]), even);
  float acc = even + odd;
  for (int o = 16; o > 0; o /= 2) acc += __shfl_xor_sync(0xffffffffu, acc, o);
  if (lane == 0) y[m] = __float2half(acc);
}

void gemv(__half* y, const __half* A, const __half* x, int M, int K, int pitch, cudaStream_t stream) {
  if (M <= 0) return;
  K = K > 0 ? K : 0;
  int eights = pitch % 8 == 0 && ((size_t)A | (size_t)x) % 16 == 0 ? K / 8 : 0;
  gemv_kernel<<<(unsigned)(((size_t)M + 7) / 8), 256, 0, stream>>>(y, A, x, M, K, pitch, eights);
}
