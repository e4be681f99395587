#include <cuda_runtime.h>

#include <cstdint>

// Mean of 3 x 3 pixels, rounded. Beyond the borders: the nearest pixel, or with `wrap` those of the other side.
__global__ void blur_kernel(uint8_t* y, const uint8_t* x, int H, int W, int wrap) {
  long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  if (i >= (long long)H * W) return;
  int r = (int)(i / W), c = (int)(i % W), sum = 0;
  for (int dr = -1; dr <= 1; ++dr)
    for (int dc = -1; dc <= 1; ++dc) {
      int rr = r + dr, cc = c + dc;
      if (wrap) rr = (rr + H) % H, cc = (cc + W) % W;
      else rr = min(max(rr, 0), H - 1), cc = min(max(cc, 0), W - 1);
      sum += x[(long long)rr * W + cc];
    }
  y[i] = (uint8_t)((sum + 4) / 9);
}

void blur3(uint8_t* y, const uint8_t* x, int H, int W, int wrap, cudaStream_t stream) {
  if (H <= 0 || W <= 0) return;
  blur_kernel<<<(unsigned)(((long long)H * W + 255) / 256), 256, 0, stream>>>(y, x, H, W, wrap);
}
