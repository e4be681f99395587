#include <cuda_runtime.h>


// y = cap * tanh(x / cap): logits that stay below the cap.
__global__ void softcap_kernel(float* y, const float* x, size_t n, float cap) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = cap * tanhf(x[i] / cap);
}

void softcap(float* y, const float* x, int n, float cap, cudaStream_t stream) {
  if (n <= 0) return;
  softcap_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(y, x, (size_t)n, cap);
}
