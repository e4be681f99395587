#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + 1.0f;
}

__global__ void scale_parts(float* out, const float* x, int n, int each) {
  for (int k = threadIdx.x; k < each; k += 256)
    if (blockIdx.x * each + k < n) out[blockIdx.x * each + k] = 2.0f * x[blockIdx.x * each + k] + 1.0f;
}

void scale(float* out, const float* x, int n) {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  const int each = n / 264 + 1;
  if (n > 1000) scale_parts<<<2 * properties.multiProcessorCount, 256>>>(out, x, n, each);
  else scale_kernel<<<(n + 255) / 256, 256>>>(out, x, n);
}
