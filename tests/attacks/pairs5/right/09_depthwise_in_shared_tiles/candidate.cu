#include <cuda_fp16.h>
#include <cuda_runtime.h>


// A block has 16 rows of 32 pixels of a plane, a thread 4 of these rows below each other; the input with its border is in shared
// memory. Tiles within the image need no tests; at its edge taps outside are left out, not multiplied by zero.
template <bool kInside>
__device__ void filter_rows(float (&acc)[4], float (*tile)[37], const float* f, int tx, int ty, int oh0, int ow,
                            int H, int W) {
#pragma unroll
  for (int r = 0; r < 5; ++r)
#pragma unroll
    for (int s = 0; s < 5; ++s) {
      int iw = ow + s - 2;
      if (!kInside && (iw < 0 || iw >= W)) continue;
      float g = f[r * 5 + s];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        int ih = oh0 + ty * 4 + j + r - 2;
        if (!kInside && (ih < 0 || ih >= H)) continue;
        acc[j] += tile[ty * 4 + j + r][tx + s] * g;
      }
    }
}

__global__ void __launch_bounds__(128)
    depthwise_kernel(__half* y, const __half* __restrict__ x, const __half* __restrict__ w,
                     const float* __restrict__ bias, int C, int H, int W, int tiles_w, int tiles_h) {
  __shared__ float tile[20][37], f[25];
  int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
  int tile_w = blockIdx.x % tiles_w, tile_h = blockIdx.x / tiles_w % tiles_h;
  size_t plane = blockIdx.x / ((size_t)tiles_w * tiles_h);
  int c = (int)(plane % C), oh0 = tile_h * 16, ow0 = tile_w * 32;
  const __half* from = x + plane * H * W;
  for (int e = threadIdx.x; e < 20 * 36; e += 128) {
    int ih = oh0 + e / 36 - 2, iw = ow0 + e % 36 - 2;
    bool exists = ih >= 0 && ih < H && iw >= 0 && iw < W;
    tile[e / 36][e % 36] = exists ? __half2float(from[(size_t)ih * W + iw]) : 0.0f;
  }
  if (threadIdx.x < 25) f[threadIdx.x] = __half2float(w[(size_t)c * 25 + threadIdx.x]);
  __syncthreads();
  float acc[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) acc[j] = bias[c];
  int ow = ow0 + tx;
  if (oh0 >= 2 && oh0 + 18 <= H && ow0 >= 2 && ow0 + 34 <= W)
    filter_rows<true>(acc, tile, f, tx, ty, oh0, ow, H, W);
  else
    filter_rows<false>(acc, tile, f, tx, ty, oh0, ow, H, W);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    int oh = oh0 + ty * 4 + j;
    if (oh < H && ow < W) y[plane * H * W + (size_t)oh * W + ow] = __float2half(acc[j]);
  }
}

void depthwise5x5(__half* y, const __half* x, const __half* w, const float* bias, int N, int C, int H, int W,
                  cudaStream_t stream) {
  if (N <= 0 || C <= 0 || H <= 0 || W <= 0) return;
  int tiles_w = (W + 31) / 32, tiles_h = (H + 15) / 16;
  depthwise_kernel<<<(unsigned)((size_t)N * C * tiles_w * tiles_h), 128, 0, stream>>>(y, x, w, bias, C, H, W, tiles_w,
                                                                                    tiles_h);
}
