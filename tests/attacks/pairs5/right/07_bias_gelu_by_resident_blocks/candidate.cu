#include <cuda_bf16.h>
#include <cuda_runtime.h>


__device__ __nv_bfloat16 bias_gelu_value(__nv_bfloat16 x, __nv_bfloat16 bias) {
  float v = __bfloat162float(x) + __bfloat162float(bias);
  return __float2bfloat16(0.5f * v * (1.0f + erff(v * 0.70710678f)));
}

// Any width and alignment. The column advances with the element, so that there is one division per thread.
__global__ void __launch_bounds__(256)
    bias_gelu_kernel(__nv_bfloat16* y, const __nv_bfloat16* x, const __nv_bfloat16* bias, size_t total, int D) {
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x, stride = (size_t)gridDim.x * 256;
  int d = (int)(i % D), step = (int)(stride % D);
  for (; i < total; i += stride) {
    y[i] = bias_gelu_value(x[i], bias[d]);
    d = d >= D - step ? d - (D - step) : d + step;
  }
}

// Eight elements of a row at a time.
__global__ void __launch_bounds__(256)
    bias_gelu_eights(uint4* y, const uint4* x, const uint4* bias, size_t total, int eights) {
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x, stride = (size_t)gridDim.x * 256;
  int d = (int)(i % eights), step = (int)(stride % eights);
  for (; i < total; i += stride) {
    uint4 xv = x[i], bv = bias[d], yv;
    const __nv_bfloat16 *xs = (const __nv_bfloat16*)&xv, *bs = (const __nv_bfloat16*)&bv;
    __nv_bfloat16* ys = (__nv_bfloat16*)&yv;
#pragma unroll
    for (int j = 0; j < 8; ++j) ys[j] = bias_gelu_value(xs[j], bs[j]);
    y[i] = yv;
    d = d >= eights - step ? d - (eights - step) : d + step;
  }
}

void bias_gelu(__nv_bfloat16* y, const __nv_bfloat16* x, const __nv_bfloat16* bias, int N, int D,
               cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  bool vectors = D % 8 == 0 && ((size_t)y | (size_t)x | (size_t)bias) % 16 == 0;
  size_t total = vectors ? (size_t)N * (D / 8) : (size_t)N * D, blocks = (total + 255) / 256;
  unsigned grid = (unsigned)(blocks < 1056 ? blocks : 1056);
  if (vectors)
    bias_gelu_eights<<<grid, 256, 0, stream>>>((uint4*)y, (const uint4*)x, (const uint4*)bias, total, D / 8);
  else
    bias_gelu_kernel<<<grid, 256, 0, stream>>>(y, x, bias, total, D);
}
