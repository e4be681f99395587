#include <cuda_runtime.h>


// Maxima of 3 x 3 pixels, stride 2, one pixel of border; position is that of the first maximum in its plane, or of the last
// NaN.
__global__ void maxpool_kernel(float* y, int* position, const float* x, int P, int H, int W, int OH, int OW) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)P * OH * OW) return;
  int ow = i % OW, oh = i / OW % OH;
  const float* plane = x + i / ((size_t)OW * OH) * H * W;
  int h0 = oh * 2 - 1 > 0 ? oh * 2 - 1 : 0, h1 = oh * 2 + 2 < H ? oh * 2 + 2 : H;
  int w0 = ow * 2 - 1 > 0 ? ow * 2 - 1 : 0, w1 = ow * 2 + 2 < W ? ow * 2 + 2 : W;
  float best = -__int_as_float(0x7f800000);
  int at = h0 * W + w0;
  for (int h = h0; h < h1; ++h)
    for (int w = w0; w < w1; ++w) {
      float v = plane[h * W + w];
      if (v > best || v != v) {
        best = v;
        at = h * W + w;
      }
    }
  y[i] = best;
  position[i] = at;
}

void maxpool3x3(float* y, int* position, const float* x, int P, int H, int W, cudaStream_t stream) {
  if (P <= 0 || H <= 0 || W <= 0) return;
  int OH = (H - 1) / 2 + 1, OW = (W - 1) / 2 + 1;
  size_t total = (size_t)P * OH * OW;
  maxpool_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(y, position, x, P, H, W, OH, OW);
}
