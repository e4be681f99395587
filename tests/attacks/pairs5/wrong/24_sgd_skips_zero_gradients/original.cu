#include <cuda_runtime.h>


__global__ void sgd_kernel(float* p, float* m, const float* g, int n, float lr, float momentum, float decay) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float d = g[i] + decay * p[i];
  m[i] = momentum * m[i] + d;
  p[i] -= lr * m[i];
}

// m = momentum * m + g + decay * p; p -= lr * m
void sgd_momentum(float* p, float* m, const float* g, int n, float lr, float momentum, float decay,
                  cudaStream_t stream) {
  if (n <= 0) return;
  sgd_kernel<<<(n + 255) / 256, 256, 0, stream>>>(p, m, g, n, lr, momentum, decay);
}
