#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y[n,c,h,w] = (x[n,h,w,c] / 255 - mean[c]) / deviation[c]
__global__ void planes_kernel(__half* y, const unsigned char* x, const float* mean, const float* deviation, int N, int H,
                              int W) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, pixels = (size_t)H * W;
  if (i >= (size_t)N * 3 * pixels) return;
  size_t n = i / (3 * pixels), at = i % pixels;
  int c = i / pixels % 3;
  y[i] = __float2half((x[(n * pixels + at) * 3 + c] / 255.0f - mean[c]) / deviation[c]);
}

void pixels_to_planes(__half* y, const unsigned char* x, const float* mean, const float* deviation, int N, int H, int W,
                      cudaStream_t stream) {
  if (N <= 0 || H <= 0 || W <= 0) return;
  size_t total = (size_t)N * 3 * H * W;
  planes_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(y, x, mean, deviation, N, H, W);
}
