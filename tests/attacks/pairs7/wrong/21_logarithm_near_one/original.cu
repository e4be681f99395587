#include <cuda_runtime.h>



// The loss of the probability that the right class got; it is near 1 in a model that has learned.
__global__ void loss_kernel(float* loss, const float* p, int n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) loss[i] = -logf(p[i]);
}

void log_loss(float* loss, const float* p, int n, cudaStream_t stream) {
  if (n <= 0) return;
  loss_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(loss, p, n);
}
