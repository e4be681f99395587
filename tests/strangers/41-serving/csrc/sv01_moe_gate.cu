// Router of a mixture of experts: logits = x * gate^T, the two best experts of every token with weights that add up to one,
// the log-sum-exp of the logits (for the z-loss) and how many tokens every expert gets.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

__global__ void gate_logits(const __half* x, const __half* gate, float* logits, int tokens, int dim, int experts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tokens * experts) return;
  int t = i / experts;
  int e = i % experts;
  float sum = 0.0f;
  for (int d = 0; d < dim; d++)
    sum += __half2float(x[(size_t)t * dim + d]) * __half2float(gate[(size_t)e * dim + d]);
  logits[i] = sum;
}

__global__ void pick_two(const float* logits, float* weights, int* ids, float* lse, int* load, int tokens, int experts) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tokens) return;
  const float* l = logits + (size_t)t * experts;

  int first = 0, second = -1;
  for (int e = 1; e < experts; e++) {
    if (l[e] > l[first]) {
      second = first;
      first = e;
    } else if (second < 0 || l[e] > l[second]) {
      second = e;
    }
  }

  float sum = 0.0f;
  for (int e = 0; e < experts; e++)
    sum += expf(l[e] - l[first]);
  lse[t] = l[first] + logf(sum);

  float p1 = 1.0f / sum;
  float p2 = expf(l[second] - l[first]) / sum;
  weights[2 * t] = p1 / (p1 + p2);
  weights[2 * t + 1] = p2 / (p1 + p2);
  ids[2 * t] = first;
  ids[2 * t + 1] = second;
  atomicAdd(&load[first], 1);
  atomicAdd(&load[second], 1);
}

extern "C" int moe_gate(const __half* x, const __half* gate, float* logits, float* weights, int* ids, float* lse, int* load,
                        int tokens, int dim, int experts, cudaStream_t stream) {
  if (experts < 2) return -1;  // nothing to choose from
  cudaMemsetAsync(load, 0, experts * sizeof(int), stream);
  int n = tokens * experts;
  gate_logits<<<(n + 255) / 256, 256, 0, stream>>>(x, gate, logits, tokens, dim, experts);
  pick_two<<<(tokens + 63) / 64, 64, 0, stream>>>(logits, weights, ids, lse, load, tokens, experts);
  return 0;
}
