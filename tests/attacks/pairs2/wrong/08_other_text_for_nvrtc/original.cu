#include <cuda_runtime.h>


// log(1 + exp(x)), linear above 20.
__global__ void softplus_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  out[i] = v > 20.0f ? v : log1pf(expf(v));
}

void softplus(float* out, const float* x, int n, cudaStream_t stream) {
  softplus_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, n);
}
