#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = fma(x, scale, residual) for n half values, in half arithmetic: two per instruction, eight per access.
__global__ void __launch_bounds__(256)
scaled_residual_kernel(__half* out, const __half* x, const __half* residual, float scale, int n, int vectors) {
  const __half2 s = __float2half2_rn(scale);
  int stride = gridDim.x * 256, first = blockIdx.x * 256 + threadIdx.x;
  for (int i = first; i < vectors; i += stride) {
    uint4 xr = reinterpret_cast<const uint4*>(x)[i], rr = reinterpret_cast<const uint4*>(residual)[i];
    const __half2* xh = reinterpret_cast<const __half2*>(&xr);
    __half2* rh = reinterpret_cast<__half2*>(&rr);
#pragma unroll
    for (int e = 0; e < 4; ++e) rh[e] = __hfma2(xh[e], s, rh[e]);
    reinterpret_cast<uint4*>(out)[i] = rr;
  }
  for (long long i = 8LL * vectors + first; i < n; i += stride) out[i] = __hfma(x[i], __low2half(s), residual[i]);
}

void scaled_residual(__half* out, const __half* x, const __half* residual, float scale, int n) {
  if (n <= 0) return;
  int vectors = ((size_t)out | (size_t)x | (size_t)residual) % 16 == 0 ? n / 8 : 0;
  int blocks = n / 2048 + 1;
  scaled_residual_kernel<<<blocks < 1056 ? blocks : 1056, 256>>>(out, x, residual, scale, n, vectors);
}
