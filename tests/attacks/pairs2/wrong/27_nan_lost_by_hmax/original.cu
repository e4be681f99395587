#include <cuda_fp16.h>
#include <cuda_runtime.h>


// 2x2 windows, stride 2, of [P, H, W] into [P, H / 2, W / 2]; a NaN in the window is the result, as in PyTorch.
__global__ void maxpool_kernel(__half* y, const __half* x, int P, int H, int W) {
  int OH = H / 2, OW = W / 2;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= P * OH * OW) return;
  int ox = i % OW, oy = i / OW % OH, p = i / OW / OH;
  const __half* win = x + ((size_t)p * H + oy * 2) * W + ox * 2;
  float m = -INFINITY;
  for (int dy = 0; dy < 2; ++dy)
    for (int dx = 0; dx < 2; ++dx) {
      float v = __half2float(win[dy * W + dx]);
      if (v > m || v != v) m = v;
    }
  y[i] = __float2half(m);
}

void maxpool_f16(__half* y, const __half* x, int P, int H, int W, cudaStream_t stream) {
  int n = P * (H / 2) * (W / 2);
  maxpool_kernel<<<(n + 255) / 256, 256, 0, stream>>>(y, x, P, H, W);
}
