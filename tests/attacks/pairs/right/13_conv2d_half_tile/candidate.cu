#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (C, H, W) = depthwise 3 x 3 convolution of x (C, H, W) with w (C, 3, 3), zero padding; half data and float sums. Tiles of
// 32 x 8 with their halo in shared memory; taps outside of the image are left out.
constexpr int TX = 32, TY = 8;

__global__ void __launch_bounds__(TX* TY)
depthwise_kernel(__half* out, const __half* x, const __half* w, int H, int W, int tiles_x, int tiles_y) {
  __shared__ float tile[TY + 2][TX + 2];
  __shared__ float taps[9];
  int tx = threadIdx.x % TX, ty = threadIdx.x / TX;
  unsigned id = blockIdx.x;
  int x0 = id % tiles_x * TX, y0 = id / tiles_x % tiles_y * TY, c = id / tiles_x / tiles_y;
  const __half* plane = x + (size_t)c * H * W;
  for (int i = threadIdx.x; i < (TX + 2) * (TY + 2); i += TX * TY) {
    int sx = x0 + i % (TX + 2) - 1, sy = y0 + i / (TX + 2) - 1;
    bool inside = sx >= 0 && sx < W && sy >= 0 && sy < H;
    tile[i / (TX + 2)][i % (TX + 2)] = inside ? __half2float(plane[(size_t)sy * W + sx]) : 0.0f;
  }
  if (threadIdx.x < 9) taps[threadIdx.x] = __half2float(w[c * 9 + threadIdx.x]);
  __syncthreads();
  int px = x0 + tx, py = y0 + ty;
  if (px >= W || py >= H) return;
  float sum = 0.0f;
#pragma unroll
  for (int dy = 0; dy < 3; ++dy) {
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) {
      int sy = py + dy - 1, sx = px + dx - 1;
      if (sy >= 0 && sy < H && sx >= 0 && sx < W) sum = fmaf(taps[dy * 3 + dx], tile[ty + dy][tx + dx], sum);
    }
  }
  out[((size_t)c * H + py) * W + px] = __float2half(sum);
}

void depthwise3x3(__half* out, const __half* x, const __half* w, int C, int H, int W) {
  if (C <= 0 || H <= 0 || W <= 0) return;
  int tiles_x = (W + TX - 1) / TX, tiles_y = (H + TY - 1) / TY;
  depthwise_kernel<<<(unsigned)tiles_x * tiles_y * C, TX * TY>>>(out, x, w, H, W, tiles_x, tiles_y);
}
