#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// 2 x 2 maximum with stride 2 of (planes, H, W) half images; a NaN in a window is the window's result.
__global__ void maxpool_kernel(__half* out, const __half* x, int planes, int H, int W) {
  int oh = H / 2, ow = W / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= planes * oh * ow) return;
  int px = i % ow, py = i / ow % oh, plane = i / ow / oh;
  float best = -INFINITY;
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      float v = __half2float(x[((size_t)plane * H + 2 * py + dy) * W + 2 * px + dx]);
      if (v > best || v != v) best = v;
      if (best != best) dx = dy = 2;
    }
  }
  out[i] = __float2half(best);
}

void maxpool_half(__half* out, const __half* x, int planes, int H, int W) {
  int n = planes * (H / 2) * (W / 2);
  if (n > 0) maxpool_kernel<<<(n + 127) / 128, 128>>>(out, x, planes, H, W);
}
