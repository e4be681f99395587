#include <cuda_runtime.h>


// The K largest values of each row in descending order with their columns; equal values by ascending column. NaN is never
// taken; where nothing is left the value is -infinity and the index -1. A thread per row.
__global__ void topk_kernel(float* value, int* index, const float* x, int N, int C, int K) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  const float* row = x + (size_t)n * C;
  float last_value = __int_as_float(0x7f800000);
  int last_index = -1;
  bool more = true;
  for (int k = 0; k < K; ++k) {
    float best = -__int_as_float(0x7f800000);
    int found = -1;
    for (int c = 0; more && c < C; ++c) {
      float v = row[c];
      bool behind = v < last_value || (v == last_value && c > last_index);
      if (behind && (found < 0 || v > best)) {
        best = v;
        found = c;
      }
    }
    value[(size_t)n * K + k] = best;
    index[(size_t)n * K + k] = found;
    last_value = best;
    last_index = found;
    more = found >= 0;
  }
}

void topk(float* value, int* index, const float* x, int N, int C, int K, cudaStream_t stream) {
  if (N <= 0 || C <= 0 || K <= 0) return;
  topk_kernel<<<(N + 63) / 64, 64, 0, stream>>>(value, index, x, N, C, K);
}
