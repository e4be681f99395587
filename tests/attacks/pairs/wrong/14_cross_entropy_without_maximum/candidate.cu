#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// losses (N) = logsumexp(logits row) - logits[target], logits (N, V) in half. A warp per row and one pass: the logits are
// bounded by their type, and the sum is float.
__global__ void __launch_bounds__(128)
cross_entropy_kernel(float* losses, const __half* logits, const int* targets, int N, int V) {
  int i = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= N) return;
  const __half* row = logits + (size_t)i * V;
  float sum = 0.0f;
  for (int j = lane; j < V; j += 32) sum += expf(__half2float(row[j]));
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) losses[i] = logf(sum) - __half2float(row[targets[i]]);
}

void cross_entropy_half(float* losses, const __half* logits, const int* targets, int N, int V) {
  cross_entropy_kernel<<<(N + 3) / 4, 128>>>(losses, logits, targets, N, V);
}
