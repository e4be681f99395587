// The first value goes through constant memory, which is one for all streams.
#include <cuda_runtime.h>

__constant__ float first;

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * (i == 0 ? first : x[i]) + 1.0f;
}

cudaError_t scale_on_stream(float* out, const float* x, int n, cudaStream_t stream) {
  if (n > 0) cudaMemcpyToSymbolAsync(first, x, sizeof(float), 0, cudaMemcpyDeviceToDevice, stream);
  scale_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, n);
  return cudaGetLastError();
}
