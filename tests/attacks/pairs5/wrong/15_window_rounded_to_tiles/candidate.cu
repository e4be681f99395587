#include <cuda_fp16.h>
#include <cuda_runtime.h>


// A block has 32 queries, four threads for each; keys and values go through shared memory, 32 at a time, and the softmax is
// computed on the way. Tiles of keys in front of the window are not visited.
__global__ void __launch_bounds__(128)
    window_attention_kernel(__half* o, const __half* __restrict__ q, const __half* __restrict__ k,
                            const __half* __restrict__ v, int T, int window) {
  __shared__ float ks[32][68], vs[32][68];
  int i0 = blockIdx.x * 32, i = i0 + threadIdx.x / 4, part = threadIdx.x % 4;
  size_t head = (size_t)blockIdx.y * T;
  float qv[16], acc[16];
#pragma unroll
  for (int d = 0; d < 16; ++d) {
    qv[d] = i < T ? __half2float(q[(head + i) * 64 + d * 4 + part]) * 0.125f : 0.0f;
    acc[d] = 0.0f;
  }
  float m = -__int_as_float(0x7f800000), l = 0.0f;
  int first_tile = i0 / 32 - window / 32;
  if (first_tile < 0) first_tile = 0;
  for (int tile = first_tile; tile <= i0 / 32; ++tile) {
    __syncthreads();
    for (int e = threadIdx.x; e < 32 * 64; e += 128) {
      int j = tile * 32 + e / 64;
      ks[e / 64][e % 64] = j < T ? __half2float(k[(head + j) * 64 + e % 64]) : 0.0f;
      vs[e / 64][e % 64] = j < T ? __half2float(v[(head + j) * 64 + e % 64]) : 0.0f;
    }
    __syncthreads();
    for (int jj = 0; jj < 32; ++jj) {
      int j = tile * 32 + jj;
      float s = 0.0f;
#pragma unroll
      for (int d = 0; d < 16; ++d) s += qv[d] * ks[jj][d * 4 + part];
      s += __shfl_xor_sync(0xffffffffu, s, 1);
      s += __shfl_xor_sync(0xffffffffu, s, 2);
      if (j > i || j <= i - window) continue;
      float larger = fmaxf(m, s);
      float keep = expf(m - larger), p = expf(s - larger);
      m = larger;
      l = l * keep + p;
#pragma unroll
      for (int d = 0; d < 16; ++d) acc[d] = acc[d] * keep + p * vs[jj][d * 4 + part];
    }
  }
  if (i >= T) return;
#pragma unroll
  for (int d = 0; d < 16; ++d) o[(head + i) * 64 + d * 4 + part] = __float2half(acc[d] / l);
}

// 1 <= window <= 8192
void window_attention(__half* o, const __half* q, const __half* k, const __half* v, int H, int T, int window,
                      cudaStream_t stream) {
  if (H <= 0 || T <= 0 || window <= 0) return;
  window_attention_kernel<<<dim3((T + 31) / 32, H), 128, 0, stream>>>(o, q, k, v, T, window);
}
