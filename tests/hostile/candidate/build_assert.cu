// The work is done inside an assertion, which a release build leaves out.
#include <cassert>
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + 1.0f;
}

cudaError_t scale_on_stream(float* out, const float* x, int n, cudaStream_t stream) {
  int length = n - 1;
  assert((length = n) > 0);
  scale_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, length);
  return cudaGetLastError();
}
