#include <cuda_runtime.h>


// loss[r] = logsumexp(x[r]) - x[r,label[r]]; rows whose label is `ignore` (padding, -100 as a rule) have the loss 0.
__global__ void cross_entropy_kernel(float* loss, const float* x, const int* label, int V, int ignore) {
  __shared__ float part[128];
  int l = label[blockIdx.x];
  if (l == ignore) {
    if (threadIdx.x == 0) loss[blockIdx.x] = 0.0f;
    return;
  }
  const float* row = x + (size_t)blockIdx.x * V;
  float top = -INFINITY;
  for (int c = threadIdx.x; c < V; c += 128) top = fmaxf(top, row[c]);
  part[threadIdx.x] = top;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + k]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < V; c += 128) sum += expf(row[c] - top);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) loss[blockIdx.x] = top + logf(part[0]) - row[l];
}

void cross_entropy(float* loss, const float* x, const int* label, int R, int V, int ignore, cudaStream_t stream) {
  if (R <= 0 || V <= 0) return;
  cross_entropy_kernel<<<R, 128, 0, stream>>>(loss, x, label, V, ignore);
}
