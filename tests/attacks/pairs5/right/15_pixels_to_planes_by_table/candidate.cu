#include <cuda_fp16.h>
#include <cuda_runtime.h>


// A byte has 256 values: a block computes the 3 x 256 results once, by the same expression, and looks them up for all of its pixels. 256
// pixels at a time are read as consecutive bytes.
__global__ void __launch_bounds__(256)
    planes_kernel(__half* y, const unsigned char* __restrict__ x, const float* __restrict__ mean,
                  const float* __restrict__ deviation, size_t total, size_t pixels) {
  __shared__ __half table[3][256];
  __shared__ unsigned char bytes[768];
  int t = threadIdx.x;
  for (int c = 0; c < 3; ++c) table[c][t] = __float2half(((unsigned char)t / 255.0f - mean[c]) / deviation[c]);
  for (size_t p0 = (size_t)blockIdx.x * 256; p0 < total; p0 += (size_t)gridDim.x * 256) {
    __syncthreads();  // the table is complete, and nobody reads the last bytes any more
    for (int j = 0; j < 3; ++j) {
      size_t b = p0 * 3 + j * 256 + t;
      if (b < total * 3) bytes[j * 256 + t] = x[b];
    }
    __syncthreads();
    size_t p = p0 + t;
    if (p < total) {
      size_t n = p / pixels, at = p % pixels;
      for (int c = 0; c < 3; ++c) y[(n * 3 + c) * pixels + at] = table[c][bytes[t * 3 + c]];
    }
  }
}

void pixels_to_planes(__half* y, const unsigned char* x, const float* mean, const float* deviation, int N, int H, int W,
                      cudaStream_t stream) {
  if (N <= 0 || H <= 0 || W <= 0) return;
  size_t pixels = (size_t)H * W, total = N * pixels, blocks = (total + 255) / 256;
  planes_kernel<<<(unsigned)(blocks < 1056 ? blocks : 1056), 256, 0, stream>>>(y, x, mean, deviation, total, pixels);
}
