#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = a + alpha * b for n floats.
__global__ void scaled_add_kernel(float* out, const float* a, const float* b, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + alpha * b[i];
}

void scaled_add(float* out, const float* a, const float* b, float alpha, int n) {
  if (n > 0) scaled_add_kernel<<<(n + 255) / 256, 256>>>(out, a, b, alpha, n);
}
