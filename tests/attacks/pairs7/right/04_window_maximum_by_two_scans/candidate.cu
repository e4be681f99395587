#include <cuda_runtime.h>



// As van Herk: a tile is cut into pieces of W; every window is the end of one and the beginning of the next, so that two maxima are
// enough, one from a piece's beginning and one to its end, of which each piece needs 2 W comparisons.
__global__ void __launch_bounds__(256)
    scanned_kernel(float* y, const float* x, int C, int W, int tile, unsigned tiles) {
  extern __shared__ float memory[];
  int c0 = (int)(blockIdx.x % tiles) * tile, width = min(tile, C - c0), length = width + W - 1;
  size_t row = blockIdx.x / tiles;
  const float* from = x + row * ((size_t)C + W - 1) + c0;
  float *to_here = memory, *from_here = memory + tile + W - 1;
  for (int e = threadIdx.x; e < length; e += 256) to_here[e] = from_here[e] = from[e];
  __syncthreads();
  int pieces = (length + W - 1) / W;
  for (int p = threadIdx.x; p < 2 * pieces; p += 256) {
    int first = p / 2 * W, last = min(first + W, length) - 1;
    float most = -INFINITY;
    if (p % 2 == 0) {
      for (int e = first; e <= last; ++e) to_here[e] = most = fmaxf(most, to_here[e]);
    } else {
      for (int e = last; e >= first; --e) from_here[e] = most = fmaxf(most, from_here[e]);
    }
  }
  __syncthreads();
  for (int e = threadIdx.x; e < width; e += 256) y[row * C + c0 + e] = fmaxf(from_here[e], to_here[e + W - 1]);
}

__global__ void __launch_bounds__(256) window_kernel(float* y, const float* x, int R, int C, int W) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  const float* from = x + i / C * ((size_t)C + W - 1) + i % C;
  float most = -INFINITY;
  for (int k = 0; k < W; ++k) most = fmaxf(most, from[k]);
  y[i] = most;
}

void window_maximum(float* y, const float* x, int R, int C, int W, cudaStream_t stream) {
  if (R <= 0 || C <= 0 || W <= 0) return;
  constexpr int tile = 2048;
  if (W > 2048) {  // two arrays of 4095 are 32 KiB
    window_kernel<<<(unsigned)(((size_t)R * C + 255) / 256), 256, 0, stream>>>(y, x, R, C, W);
    return;
  }
  unsigned tiles = ((unsigned)C + tile - 1) / tile;
  scanned_kernel<<<(unsigned)R * tiles, 256, 2 * (tile + W - 1) * sizeof(float), stream>>>(y, x, C, W, tile, tiles);
}
