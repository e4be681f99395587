#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// 2x2 windows, stride 2, of [P, H, W] into [P, H / 2, W / 2].
template <bool PAIRS>
__global__ void avgpool_kernel(bf16* y, const bf16* x, int P, int H, int W) {
  int OH = H / 2, OW = W / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= P * OH * OW) return;
  int ox = i % OW, oy = i / OW % OH, p = i / OW / OH;
  const bf16* win = x + ((size_t)p * H + oy * 2) * W + ox * 2;
  float2 a, b;
  if (PAIRS) {
    a = __bfloat1622float2(*(const __nv_bfloat162*)win);
    b = __bfloat1622float2(*(const __nv_bfloat162*)(win + W));
  } else {
    a = make_float2(__bfloat162float(win[0]), __bfloat162float(win[1]));
    b = make_float2(__bfloat162float(win[W]), __bfloat162float(win[W + 1]));
  }
  y[i] = __float2bfloat16((0.0f + a.x + a.y + b.x + b.y) * 0.25f);
}

void avgpool_bf16(bf16* y, const bf16* x, int P, int H, int W, cudaStream_t stream) {
  int n = P * (H / 2) * (W / 2);
  if (W % 2 == 0 && ((size_t)x & 3) == 0)
    avgpool_kernel<true><<<(n + 255) / 256, 256, 0, stream>>>(y, x, P, H, W);
  else
    avgpool_kernel<false><<<(n + 255) / 256, 256, 0, stream>>>(y, x, P, H, W);
}
