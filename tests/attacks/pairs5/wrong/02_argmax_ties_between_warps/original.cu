#include <cuda_runtime.h>


// The first of the largest logits of each row. NaN is never the largest; a row without anything above -infinity gives 0.
__global__ void greedy_token_kernel(int* token, float* best, const float* logits, int N, int C) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  const float* row = logits + (size_t)n * C;
  float value = -__int_as_float(0x7f800000);
  int index = 0;
  for (int c = 0; c < C; ++c)
    if (row[c] > value) {
      value = row[c];
      index = c;
    }
  token[n] = index;
  best[n] = value;
}

void greedy_token(int* token, float* best, const float* logits, int N, int C, cudaStream_t stream) {
  if (N <= 0 || C <= 0) return;
  greedy_token_kernel<<<(N + 127) / 128, 128, 0, stream>>>(token, best, logits, N, C);
}
