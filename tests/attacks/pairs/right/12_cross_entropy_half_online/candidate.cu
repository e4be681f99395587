#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// losses (N) = logsumexp(logits row) - logits[target], logits (N, V) in half. A block per row, one pass with a running maximum.
struct Part {
  float top, sum;
};

__device__ inline Part merge(Part a, Part b) {
  float top = fmaxf(a.top, b.top);
  float x = a.top == top ? a.sum : a.sum * expf(a.top - top);
  float y = b.top == top ? b.sum : b.sum * expf(b.top - top);
  return {top, x + y};
}

__global__ void __launch_bounds__(128) cross_entropy_kernel(float* losses, const __half* logits, const int* targets, int V) {
  __shared__ Part parts[4];
  const __half* row = logits + (size_t)blockIdx.x * V;
  Part p = {-INFINITY, 0.0f};
  for (int j = threadIdx.x; j < V; j += 128) {
    float v = __half2float(row[j]);
    if (v > p.top) {
      p.sum = p.sum * expf(p.top - v) + expf(v - v);
      p.top = v;
    } else if (v != -INFINITY) {
      p.sum += expf(v - p.top);
    }
  }
  for (int d = 16; d > 0; d /= 2) {
    Part q = {__shfl_xor_sync(0xffffffffu, p.top, d), __shfl_xor_sync(0xffffffffu, p.sum, d)};
    p = merge(p, q);
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = p;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 4; ++w) p = merge(p, parts[w]);
    // A row of -infinity only has no distribution.
    float lse = p.top == -INFINITY ? nanf("") : logf(p.sum) + p.top;
    losses[blockIdx.x] = lse - __half2float(row[targets[blockIdx.x]]);
  }
}

void cross_entropy_half(float* losses, const __half* logits, const int* targets, int N, int V) {
  if (N > 0) cross_entropy_kernel<<<N, 128>>>(losses, logits, targets, V);
}
