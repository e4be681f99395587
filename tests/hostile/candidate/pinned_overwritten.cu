// The next call overwrites the memory from which this one still copies.
#include <cuda_runtime.h>

__constant__ int length;
__global__ void scale_kernel(float* out, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) out[i] = 2.0f * x[i] + 1.0f;
}

cudaError_t scale_on_stream(float* out, const float* x, int n, cudaStream_t stream) {
  static int* staged = nullptr;
  if (staged == nullptr) cudaMallocHost(&staged, sizeof(int));
  *staged = n;
  cudaMemcpyToSymbolAsync(length, staged, sizeof(int), 0, cudaMemcpyHostToDevice, stream);
  scale_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x);
  return cudaGetLastError();
}
