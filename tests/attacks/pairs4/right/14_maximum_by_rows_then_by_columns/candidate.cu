#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


__device__ __forceinline__ float larger(float top, float v) { return v > top || v != v ? v : top; }

// For windows whose rows do not fit into shared memory.
__global__ void maxpool_direct(bf16* y, const bf16* x, int P, int H, int W, int KH, int KW, int stride, int pad, int OH,
                               int OW) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)P * OH * OW) return;
  int ow = i % OW, oh = i / OW % OH;
  const bf16* plane = x + i / ((size_t)OW * OH) * H * W;
  float top = __int_as_float(0xff800000);
  for (int r = 0; r < KH; ++r)
    for (int s = 0; s < KW; ++s) {
      int h = oh * stride - pad + r, w = ow * stride - pad + s;
      if (h >= 0 && h < H && w >= 0 && w < W) top = larger(top, __bfloat162float(plane[(size_t)h * W + w]));
    }
  y[i] = __float2bfloat16(top);
}

// The maximum of KH x KW elements as that of KH maxima of KW elements each, which overlapping windows share. A block
// has 8 rows of 32 outputs.
__global__ void __launch_bounds__(256)
    maxpool_separable(bf16* y, const bf16* __restrict__ x, int H, int W, int KH, int KW, int stride, int pad, int OH,
                      int OW, int tiles_w, int tiles_h) {
  extern __shared__ float rows[];  // [7 * stride + KH][32]
  int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
  int ow = blockIdx.x % tiles_w * 32 + tx, oh0 = blockIdx.x / tiles_w % tiles_h * 8;
  size_t p = blockIdx.x / (tiles_w * tiles_h);
  const bf16* plane = x + p * H * W;
  int count = 7 * stride + KH, h0 = oh0 * stride - pad, w0 = ow * stride - pad;
  for (int r = ty; r < count; r += 8) {
    float top = __int_as_float(0xff800000);
    int h = h0 + r;
    if (h >= 0 && h < H && ow < OW)
      for (int s = 0; s < KW; ++s) {
        int w = w0 + s;
        if (w >= 0 && w < W) top = larger(top, __bfloat162float(plane[(size_t)h * W + w]));
      }
    rows[r * 32 + tx] = top;
  }
  __syncthreads();
  int oh = oh0 + ty;
  if (oh >= OH || ow >= OW) return;
  float top = __int_as_float(0xff800000);
  for (int r = 0; r < KH; ++r) top = larger(top, rows[(ty * stride + r) * 32 + tx]);
  y[(p * OH + oh) * OW + ow] = __float2bfloat16(top);
}

void maxpool2d(bf16* y, const bf16* x, int P, int H, int W, int KH, int KW, int stride, int pad, cudaStream_t stream) {
  int OH = (H + 2 * pad - KH) / stride + 1, OW = (W + 2 * pad - KW) / stride + 1;
  if (P <= 0 || OH <= 0 || OW <= 0) return;
  size_t shared = ((size_t)7 * stride + KH) * 32 * sizeof(float);
  if (shared > 48 * 1024 || stride > KH) {
    size_t total = (size_t)P * OH * OW;
    maxpool_direct<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(y, x, P, H, W, KH, KW, stride, pad, OH, OW);
    return;
  }
  int tiles_w = (OW + 31) / 32, tiles_h = (OH + 7) / 8;
  maxpool_separable<<<(unsigned)((size_t)tiles_w * tiles_h * P), 256, shared, stream>>>(y, x, H, W, KH, KW, stride, pad,
                                                                                        OH, OW, tiles_w, tiles_h);
}
