// Cross entropy of logits (N, V) against one target per row: losses[i] = log(sum exp(x - max)) - (x[target] - max).
#include "../include/common.cuh"

__global__ void cross_entropy_kernel(float* losses, const float* logits, const int* targets, int N, int V) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) {
    const float* row = logits + i * V;
    float maxval = -INFINITY;
    for (int v = 0; v < V; v++) {
      maxval = fmaxf(maxval, row[v]);
    }
    float sum = 0.0f;
    for (int v = 0; v < V; v++) {
      sum += expf(row[v] - maxval);
    }
    losses[i] = logf(sum) - (row[targets[i]] - maxval);
  }
}

void cross_entropy(float* losses, const float* logits, const int* targets, int N, int V) {
  const int block_size = 128;
  const int grid_size = (N + block_size - 1) / block_size;
  cross_entropy_kernel<<<grid_size, block_size>>>(losses, logits, targets, N, V);
  LAUNCH_CHECK();
}
