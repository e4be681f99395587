#include <cuda_runtime.h>



// Online: one pass, with a maximum and a sum for each of eight rows of threads, which are merged behind it. A block has 32 columns.
// What is nothing but -infinity so far is not subtracted from itself; a column of nothing else is, at the end, as it always was.
struct Part {
  float most, sum;
};

__device__ __forceinline__ Part merge(Part a, Part b) {
  float most = fmaxf(a.most, b.most), from = most == -INFINITY ? 0.0f : most;
  return {most, a.sum * expf(a.most - from) + b.sum * expf(b.most - from)};
}

__global__ void __launch_bounds__(256) columns_kernel(float* y, const float* x, int R, int C) {
  __shared__ Part parts[8][32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  size_t c = (size_t)blockIdx.x * 32 + lane;
  Part mine = {-INFINITY, 0.0f};
  if (c < (size_t)C)
    for (size_t r = warp; r < (size_t)R; r += 8) {
      float v = x[r * C + c], most = fmaxf(mine.most, v);
      float from = most == -INFINITY ? 0.0f : most;
      mine.sum = mine.sum * expf(mine.most - from) + expf(v - from);
      mine.most = most;
    }
  parts[warp][lane] = mine;
  __syncthreads();
  if (warp > 0 || c >= (size_t)C) return;
  for (int w = 1; w < 8; ++w) mine = merge(mine, parts[w][lane]);
  y[c] = mine.most == -INFINITY ? mine.most - mine.most : mine.most + logf(mine.sum);
}

void column_logsumexp(float* y, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  columns_kernel<<<(unsigned)(((size_t)C + 31) / 32), 256, 0, stream>>>(y, x, R, C);
}
