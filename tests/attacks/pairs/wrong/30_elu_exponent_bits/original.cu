#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// ELU: x for x > 0, alpha * (exp(x) - 1) otherwise.
__global__ void elu_kernel(float* out, const float* x, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] > 0.0f ? x[i] : alpha * (expf(x[i]) - 1.0f);
}

void elu(float* out, const float* x, float alpha, int n) {
  if (n > 0) elu_kernel<<<(n + 255) / 256, 256>>>(out, x, alpha, n);
}
