#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>


// A block goes down 64 rows of 64 columns, eight at a time: while eight are computed, the next are copied. Ten rows, with one above and
// one below, in two stages.
constexpr int kColumns = 64, kRows = 8, kWay = 64;

__device__ __forceinline__ void load(float (*tile)[kColumns + 2], const float* x, int H, int W, size_t r0, size_t c0) {
  for (int e = threadIdx.x; e < (kRows + 2) * (kColumns + 2); e += 256) {
    size_t r = r0 + e / (kColumns + 2), c = c0 + e % (kColumns + 2);  // both one more than in the matrix
    if (r >= 1 && r <= (size_t)H && c >= 1 && c <= (size_t)W)
      __pipeline_memcpy_async(&tile[e / (kColumns + 2)][e % (kColumns + 2)], x + (r - 1) * W + c - 1, sizeof(float));
  }
  __pipeline_commit();
}

__global__ void __launch_bounds__(256) heat_kernel(float* y, const float* x, int H, int W, float k, unsigned across) {
  __shared__ float tiles[2][kRows + 2][kColumns + 2];
  size_t c0 = (size_t)(blockIdx.x % across) * kColumns, r0 = (size_t)(blockIdx.x / across) * kWay;
  int steps = (int)((min((size_t)H - r0, (size_t)kWay) + kRows - 1) / kRows);
  int tx = threadIdx.x % kColumns, ty = threadIdx.x / kColumns;
  load(tiles[0], x, H, W, r0, c0);
  for (int s = 0; s < steps; ++s) {
    if (s + 1 < steps) load(tiles[(s + 1) % 2], x, H, W, r0 + (s + 1) * kRows, c0);
    else __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float(*tile)[kColumns + 2] = tiles[s % 2];
#pragma unroll
    for (int h = 0; h < kRows; h += 4) {
      int row = ty + h;
      size_t r = r0 + s * kRows + row, c = c0 + tx;
      if (r >= (size_t)H || c >= (size_t)W) continue;
      float v = tile[row + 1][tx + 1];
      if (r > 0 && r + 1 < (size_t)H && c > 0 && c + 1 < (size_t)W)
        v += k * (tile[row][tx + 1] + tile[row + 2][tx + 1] + tile[row + 1][tx] + tile[row + 1][tx + 2] - 4.0f * v);
      y[r * W + c] = v;
    }
    __syncthreads();
  }
}

void heat_step(float* y, const float* x, int H, int W, float k, cudaStream_t stream) {
  if (H <= 0 || W <= 0) return;
  size_t across = ((size_t)W + kColumns - 1) / kColumns, down = ((size_t)H + kWay - 1) / kWay;
  heat_kernel<<<(unsigned)(across * down), 256, 0, stream>>>(y, x, H, W, k, (unsigned)across);
}
