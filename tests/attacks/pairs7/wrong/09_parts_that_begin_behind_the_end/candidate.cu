#include <cuda_runtime.h>



// Long rows are divided among sixteen blocks; means and sums of squares are merged as Chan, Golub and LeVeque do.
__device__ float block_sum(float v) {
  __shared__ float warps[8];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  float sum = 0.0f;
  for (int w = 0; w < 8; ++w) sum += warps[w];
  __syncthreads();
  return sum;
}

__global__ void __launch_bounds__(256)
    moments_kernel(float* mean, float* squares, const float* x, int C, int parts, int share, float divisor) {
  int part = blockIdx.x % parts, begin = part * share, count = min(share, C - begin);
  const float* row = x + (size_t)(blockIdx.x / parts) * C + begin;
  float sum = 0.0f, around = 0.0f;
  for (int c = threadIdx.x; c < count; c += 256) sum += row[c];
  float m = block_sum(sum) / count;
  for (int c = threadIdx.x; c < count; c += 256) around += (row[c] - m) * (row[c] - m);
  around = block_sum(around) / divisor;
  if (threadIdx.x == 0) mean[blockIdx.x] = m, squares[blockIdx.x] = around;
}

__global__ void merge_kernel(float* mean, float* variance, const float* means, const float* squares, int R, int C,
                             int parts, int share) {
  int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= R) return;
  float m = 0.0f, s = 0.0f;
  int total = 0;
  for (int p = 0; p < parts; ++p) {
    int count = min(share, C - p * share);
    if (count == 0) break;
    float delta = means[(size_t)r * parts + p] - m;
    s += squares[(size_t)r * parts + p] + delta * delta * ((float)total * count / (total + count));
    total += count;
    m += delta * count / total;
  }
  mean[r] = m;
  variance[r] = s / total;
}

void row_moments(float* mean, float* variance, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  float* work = nullptr;
  constexpr int parts = 16;
  size_t all = (size_t)R * parts;
  if (C <= 6000 || cudaMallocAsync(&work, 2 * all * sizeof(float), stream) != cudaSuccess) {
    moments_kernel<<<R, 256, 0, stream>>>(mean, variance, x, C, 1, C, (float)C);
    return;
  }
  int share = (C / parts / 32 + 1) * 32;
  moments_kernel<<<(unsigned)all, 256, 0, stream>>>(work, work + all, x, C, parts, share, 1.0f);
  merge_kernel<<<(unsigned)((R + 63) / 64), 64, 0, stream>>>(mean, variance, work, work + all, R, C, parts, share);
  cudaFreeAsync(work, stream);
}
