#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// losses (N) = logsumexp(logits row) - logits[target], logits (N, V) in half.
__global__ void cross_entropy_kernel(float* losses, const __half* logits, const int* targets, int N, int V) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const __half* row = logits + (size_t)i * V;
  float top = -INFINITY;
  for (int j = 0; j < V; ++j) top = fmaxf(top, __half2float(row[j]));
  float sum = 0.0f;
  for (int j = 0; j < V; ++j) sum += expf(__half2float(row[j]) - top);
  losses[i] = logf(sum) + top - __half2float(row[targets[i]]);
}

void cross_entropy_half(float* losses, const __half* logits, const int* targets, int N, int V) {
  cross_entropy_kernel<<<(N + 63) / 64, 64>>>(losses, logits, targets, N, V);
}
