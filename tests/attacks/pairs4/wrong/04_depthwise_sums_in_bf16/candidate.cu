#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;
typedef __nv_bfloat162 bf162;


__global__ void depthwise_kernel(bf16* y, const bf16* x, const bf16* w, int N, int H, int W, int C, int R) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * H * W * C) return;
  int c = i % C, ow = i / C % W, oh = i / ((size_t)C * W) % H, n = i / ((size_t)C * W * H);
  float acc = 0.0f;
  for (int r = 0; r < R; ++r)
    for (int s = 0; s < R; ++s) {
      int ih = oh + r - R / 2, iw = ow + s - R / 2;
      if (ih < 0 || ih >= H || iw < 0 || iw >= W) continue;
      acc += __bfloat162float(x[(((size_t)n * H + ih) * W + iw) * C + c]) *
             __bfloat162float(w[((size_t)r * R + s) * C + c]);
    }
  y[i] = __float2bfloat16(acc);
}

// Two neighbouring channels per thread, one packed instruction per tap.
__global__ void depthwise_pairs(bf162* y, const bf162* __restrict__ x, const bf162* __restrict__ w, int N, int H, int W,
                                int P, int R) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * H * W * P) return;
  int p = i % P, ow = i / P % W, oh = i / ((size_t)P * W) % H, n = i / ((size_t)P * W * H);
  bf162 acc = __float2bfloat162_rn(0.0f);
  for (int r = 0; r < R; ++r) {
    int ih = oh + r - R / 2;
    if (ih < 0 || ih >= H) continue;
    for (int s = 0; s < R; ++s) {
      int iw = ow + s - R / 2;
      if (iw < 0 || iw >= W) continue;
      acc = __hfma2(x[(((size_t)n * H + ih) * W + iw) * P + p], w[((size_t)r * R + s) * P + p], acc);
    }
  }
  y[i] = acc;
}

void depthwise_nhwc(bf16* y, const bf16* x, const bf16* w, int N, int H, int W, int C, int R, cudaStream_t stream) {
  size_t total = (size_t)N * H * W * C;
  if (total == 0) return;
  if (C % 2 == 0 && ((size_t)y | (size_t)x | (size_t)w) % 4 == 0) {
    depthwise_pairs<<<(unsigned)((total / 2 + 255) / 256), 256, 0, stream>>>((bf162*)y, (const bf162*)x,
                                                                             (const bf162*)w, N, H, W, C / 2, R);
  } else {
    depthwise_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(y, x, w, N, H, W, C, R);
  }
}
