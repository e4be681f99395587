#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// 2 x 2 maximum with stride 2 of (planes, H, W) half images, on packed pairs.
__global__ void maxpool_kernel(__half* out, const __half* x, int H, int W, int oh, int ow) {
  int px = blockIdx.x * blockDim.x + threadIdx.x;
  int py = blockIdx.y;
  if (px >= ow) return;
  for (int row = py; row < oh; row += gridDim.y) {
    const __half* top = x + ((size_t)blockIdx.z * H + 2 * row) * W + 2 * px;
    __half2 m = __hmax2(__halves2half2(top[0], top[1]), __halves2half2(top[W], top[W + 1]));
    out[((size_t)blockIdx.z * oh + row) * ow + px] = __hmax(__low2half(m), __high2half(m));
  }
}

void maxpool_half(__half* out, const __half* x, int planes, int H, int W) {
  int oh = H / 2, ow = W / 2;
  if (planes <= 0 || oh <= 0 || ow <= 0) return;
  for (int p = 0; p < planes; p += 65535) {
    dim3 grid((ow + 63) / 64, oh < 65535 ? oh : 65535, planes - p < 65535 ? planes - p : 65535);
    maxpool_kernel<<<grid, 64>>>(out + (size_t)p * oh * ow, x + (size_t)p * H * W, H, W, oh, ow);
  }
}
