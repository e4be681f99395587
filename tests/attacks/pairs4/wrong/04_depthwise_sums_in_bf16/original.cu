#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Depthwise convolution, channels last: y[N,H,W,C] from x[N,H,W,C] and w[R,R,C]; R is odd, the size stays the same.
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

void depthwise_nhwc(bf16* y, const bf16* x, const bf16* w, int N, int H, int W, int C, int R, cudaStream_t stream) {
  size_t total = (size_t)N * H * W * C;
  if (total == 0) return;
  depthwise_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(y, x, w, N, H, W, C, R);
}
