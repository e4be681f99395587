// A workspace of the first call's size: a larger call writes past it.
#include <cuda_runtime.h>

__global__ void twice_kernel(float* parts, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) parts[i] = 2.0f * x[i];
}
__global__ void plus_kernel(float* out, const float* parts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = parts[i] + 1.0f;
}

cudaError_t scale_on_stream(float* out, const float* x, int n, cudaStream_t stream) {
  static float* parts = nullptr;
  if (parts == nullptr) cudaMalloc(&parts, n * sizeof(float));
  twice_kernel<<<(n + 255) / 256, 256, 0, stream>>>(parts, x, n);
  plus_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, parts, n);
  return cudaGetLastError();
}
