#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Max pooling of P planes x[P,H,W] with windows of KH x KW; a NaN in a window is its result.
__global__ void maxpool_kernel(bf16* y, const bf16* x, int P, int H, int W, int KH, int KW, int stride, int pad, int OH,
                               int OW) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)P * OH * OW) return;
  int ow = i % OW, oh = i / OW % OH;
  const bf16* plane = x + i / ((size_t)OW * OH) * H * W;
  float top = __int_as_float(0xff800000);
  for (int r = 0; r < KH; ++r)
    for (int s = 0; s < KW; ++s) {
      int h = oh * stride - pad + r, w = ow * stride - pad + s;
      if (h < 0 || h >= H || w < 0 || w >= W) continue;
      float v = __bfloat162float(plane[(size_t)h * W + w]);
      if (v > top || v != v) top = v;
    }
  y[i] = __float2bfloat16(top);
}

void maxpool2d(bf16* y, const bf16* x, int P, int H, int W, int KH, int KW, int stride, int pad, cudaStream_t stream) {
  int OH = (H + 2 * pad - KH) / stride + 1, OW = (W + 2 * pad - KW) / stride + 1;
  if (P <= 0 || OH <= 0 || OW <= 0) return;
  size_t total = (size_t)P * OH * OW;
  maxpool_kernel<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(y, x, P, H, W, KH, KW, stride, pad, OH, OW);
}
