#include <cuda_fp16.h>
#include <cuda_runtime.h>


// A block has 32 queries, four threads for each of them with 16 of the 64 dimensions; keys and values go through shared memory,
// 32 at a time, and the softmax is computed on the way.
__global__ void __launch_bounds__(128)
    causal_attention_kernel(__half* o, const __half* q, const __half* __restrict__ k, const __half* __restrict__ v,
                            int Tq, int Tk, int tiles_q) {
  __shared__ float ks[32][68], vs[32][68];
  const float lowest = -__int_as_float(0x7f800000);
  int h = blockIdx.x / tiles_q, i0 = blockIdx.x % tiles_q * 32, i = i0 + threadIdx.x / 4, part = threadIdx.x % 4;
  size_t qi = ((size_t)h * Tq + i) * 64, keys = (size_t)h * Tk * 64;
  float qv[16], acc[16];
#pragma unroll
  for (int d = 0; d < 16; ++d) {
    qv[d] = i < Tq ? __half2float(q[qi + d * 4 + part]) : 0.0f;
    acc[d] = 0.0f;
  }
  float m = lowest, l = 0.0f;
  int count = i < Tq ? i + 1 + Tk - Tq : 0;  // of keys that this query sees
  int last = i0 + 31 < Tq ? i0 + 31 : Tq - 1, most = last + 1 + Tk - Tq;  // that any of the block sees
  for (int j0 = 0; j0 < most; j0 += 32) {
    __syncthreads();
    for (int e = threadIdx.x; e < 32 * 64; e += 128) {
      int j = j0 + e / 64;
      ks[e / 64][e % 64] = j < Tk ? __half2float(k[keys + (size_t)j * 64 + e % 64]) : 0.0f;
      vs[e / 64][e % 64] = j < Tk ? __half2float(v[keys + (size_t)j * 64 + e % 64]) : 0.0f;
    }
    __syncthreads();
    for (int jj = 0; jj < 32; ++jj) {
      float s = 0.0f;
#pragma unroll
      for (int d = 0; d < 16; ++d) s += qv[d] * ks[jj][d * 4 + part];
      s += __shfl_xor_sync(0xffffffffu, s, 1);
      s += __shfl_xor_sync(0xffffffffu, s, 2);
      s *= 0.125f;
      if (j0 + jj < count) {
        float larger = fmaxf(m, s);
        float keep = m == larger ? 1.0f : expf(m - larger);
        // As long as all scores are -infinity their weight is 0; NaN stays NaN.
        float p = larger == lowest ? (s == lowest ? 0.0f : s) : expf(s - larger);
        m = larger;
        l = l * keep + p;
#pragma unroll
        for (int d = 0; d < 16; ++d) acc[d] = acc[d] * keep + p * vs[jj][d * 4 + part];
      }
    }
  }
  if (i >= Tq) return;
#pragma unroll
  for (int d = 0; d < 16; ++d) o[qi + d * 4 + part] = __float2half(count > 0 ? acc[d] / l : 0.0f);
}

// Tk <= 8192
void causal_attention(__half* o, const __half* q, const __half* k, const __half* v, int H, int Tq, int Tk,
                      cudaStream_t stream) {
  if (H <= 0 || Tq <= 0 || Tk < 0) return;
  int tiles_q = (Tq + 31) / 32;
  causal_attention_kernel<<<(unsigned)((size_t)H * tiles_q), 128, 0, stream>>>(o, q, k, v, Tq, Tk, tiles_q);
}
