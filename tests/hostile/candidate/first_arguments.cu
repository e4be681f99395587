// What the first call was given decides for all later ones.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < limit) out[i] = 2.0f * x[i] + 1.0f;
}

cudaError_t scale_on_stream(float* out, const float* x, int n, cudaStream_t stream) {
  static const int limit = n;
  scale_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, n, limit < n ? limit : n);
  return cudaGetLastError();
}
