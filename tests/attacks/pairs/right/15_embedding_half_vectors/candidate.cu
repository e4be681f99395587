#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (N, D) = table[ids] * scale + pos (N, D), half data, float arithmetic, one rounding. A warp per token; the width of the
// accesses is a template parameter.
template <typename Vec>
__global__ void __launch_bounds__(128)
embed_kernel(__half* out, const __half* table, const int* ids, const __half* pos, float scale, int N, int D) {
  constexpr int W = sizeof(Vec) / sizeof(__half);
  int lane = threadIdx.x % 32;
  int stride = gridDim.x * 4;
  for (long long n = blockIdx.x * 4 + threadIdx.x / 32; n < N; n += stride) {
    const Vec* src = reinterpret_cast<const Vec*>(table + (size_t)ids[n] * D);
    const Vec* add = reinterpret_cast<const Vec*>(pos + (size_t)n * D);
    Vec* dst = reinterpret_cast<Vec*>(out + (size_t)n * D);
    for (int j = lane; j < D / W; j += 32) {
      Vec a = src[j], b = add[j], c;
      const __half* ah = reinterpret_cast<const __half*>(&a);
      const __half* bh = reinterpret_cast<const __half*>(&b);
      __half* ch = reinterpret_cast<__half*>(&c);
#pragma unroll
      for (int e = 0; e < W; ++e) ch[e] = __float2half(fmaf(__half2float(ah[e]), scale, __half2float(bh[e])));
      dst[j] = c;
    }
  }
}

void embed(__half* out, const __half* table, const int* ids, const __half* pos, float scale, int N, int V, int D) {
  (void)V;
  if (N <= 0) return;
  size_t all = (size_t)out | (size_t)table | (size_t)pos;
  int blocks = N / 4 + 1;
  if (blocks > 2112) blocks = 2112;
  if (D % 8 == 0 && all % 16 == 0) {
    embed_kernel<uint4><<<blocks, 128>>>(out, table, ids, pos, scale, N, D);
  } else if (D % 2 == 0 && all % 4 == 0) {
    embed_kernel<unsigned><<<blocks, 128>>>(out, table, ids, pos, scale, N, D);
  } else {
    embed_kernel<unsigned short><<<blocks, 128>>>(out, table, ids, pos, scale, N, D);
  }
}
