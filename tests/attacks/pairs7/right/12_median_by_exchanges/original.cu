#include <cuda_runtime.h>



// The median of 3 x 3 pixels; those outside are the nearest inside.
__global__ void median_kernel(unsigned char* y, const unsigned char* x, int H, int W) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)H * W) return;
  int r = (int)(i / W), c = (int)(i % W), p[9];
  for (int k = 0; k < 9; ++k) {
    int v = x[(size_t)min(max(r + k / 3 - 1, 0), H - 1) * W + min(max(c + k % 3 - 1, 0), W - 1)], at = k;
    for (; at > 0 && p[at - 1] > v; --at) p[at] = p[at - 1];
    p[at] = v;
  }
  y[i] = (unsigned char)p[4];
}

void median_filter(unsigned char* y, const unsigned char* x, int H, int W, cudaStream_t stream) {
  if (H <= 0 || W <= 0) return;
  median_kernel<<<(unsigned)(((size_t)H * W + 255) / 256), 256, 0, stream>>>(y, x, H, W);
}
