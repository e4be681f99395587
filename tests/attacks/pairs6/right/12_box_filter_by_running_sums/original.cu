#include <cuda_runtime.h>


// out = the rounded mean of the window of 2 r + 1 by 2 r + 1 pixels around each pixel, as far as it lies in the image.
__global__ void box_kernel(unsigned char* out, const unsigned char* x, int H, int W, int r) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)H * W) return;
  int q = i % W, p = i / W;
  int left = max(q - r, 0), right = min(q + r, W - 1), top = max(p - r, 0), bottom = min(p + r, H - 1);
  unsigned sum = 0;
  for (int a = top; a <= bottom; ++a)
    for (int b = left; b <= right; ++b) sum += x[(size_t)a * W + b];
  unsigned count = (unsigned)(right - left + 1) * (unsigned)(bottom - top + 1);
  out[i] = (unsigned char)((sum + count / 2) / count);
}

void box_filter(unsigned char* out, const unsigned char* x, int H, int W, int r, cudaStream_t stream) {
  if (H <= 0 || W <= 0 || r < 0) return;
  box_kernel<<<(unsigned)(((size_t)H * W + 255) / 256), 256, 0, stream>>>(out, x, H, W, r);
}
