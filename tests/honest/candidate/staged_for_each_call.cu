// Two launches by way of a workspace that each call makes for itself, on its stream.
#include <cuda_runtime.h>

__global__ void twice_kernel(float* staged, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) staged[i] = 2.0f * x[i];
}
__global__ void plus_kernel(float* out, const float* staged, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = staged[i] + 1.0f;
}

cudaError_t scale_on_stream(float* out, const float* x, int n, cudaStream_t stream) {
  float* staged = nullptr;
  cudaMallocAsync(&staged, n * sizeof(float), stream);
  twice_kernel<<<(n + 255) / 256, 256, 0, stream>>>(staged, x, n);
  plus_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, staged, n);
  cudaFreeAsync(staged, stream);
  return cudaGetLastError();
}
