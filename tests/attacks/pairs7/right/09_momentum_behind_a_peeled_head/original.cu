#include <cuda_runtime.h>



// SGD with momentum and weight decay.
__global__ void momentum_kernel(float* p, float* m, const float* g, int n, float rate, float beta, float decay) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = beta * m[i] + (g[i] + decay * p[i]);
  m[i] = v;
  p[i] -= rate * v;
}

void momentum_step(float* p, float* m, const float* g, int n, float rate, float beta, float decay, cudaStream_t stream) {
  if (n <= 0) return;
  momentum_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(p, m, g, n, rate, beta, decay);
}
