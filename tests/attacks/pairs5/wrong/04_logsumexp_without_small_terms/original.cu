#include <cuda_runtime.h>


// loss = log(sum(exp(logits))) - logits[label]; 0 for labels outside of the vocabulary.
__global__ void cross_entropy_kernel(float* loss, const float* logits, const int* label, int N, int C) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  const float* row = logits + (size_t)n * C;
  int t = label[n];
  if (t < 0 || t >= C) {
    loss[n] = 0.0f;
    return;
  }
  float m = row[0];
  for (int c = 1; c < C; ++c) m = fmaxf(m, row[c]);
  float s = 0.0f;
  for (int c = 0; c < C; ++c) s += expf(row[c] - m);
  loss[n] = logf(s) + m - row[t];
}

void cross_entropy(float* loss, const float* logits, const int* label, int N, int C, cudaStream_t stream) {
  if (N <= 0 || C <= 0) return;
  cross_entropy_kernel<<<(N + 127) / 128, 128, 0, stream>>>(loss, logits, label, N, C);
}
