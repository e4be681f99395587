#include <cuda_runtime.h>


__device__ __forceinline__ float warp_max(float v) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}
__device__ __forceinline__ float warp_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

// Shuffles instead of the trees in shared memory; the label's logit is fetched at the beginning, so that its latency
// hides behind the row.
__global__ void __launch_bounds__(256) cross_entropy_kernel(float* loss, const float* x, const int* label, int V) {
  __shared__ float part[8];
  const float* row = x + (size_t)blockIdx.x * V;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float own = threadIdx.x == 0 ? row[label[blockIdx.x]] : 0.0f;
  float top = -INFINITY;
  for (int c = threadIdx.x; c < V; c += 256) top = fmaxf(top, row[c]);
  top = warp_max(top);
  if (lane == 0) part[warp] = top;
  __syncthreads();
  top = warp_max(part[lane % 8]);
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < V; c += 256) sum += expf(row[c] - top);
  sum = warp_sum(sum);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0.0f;
    for (int w = 0; w < 8; ++w) sum += part[w];
    loss[blockIdx.x] = top + logf(sum) - own;
  }
}

void cross_entropy(float* loss, const float* x, const int* label, int R, int V, int ignore, cudaStream_t stream) {
  if (R <= 0 || V <= 0) return;
  cross_entropy_kernel<<<R, 256, 0, stream>>>(loss, x, label, V);
}
