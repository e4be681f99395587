#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// amax = largest |x|, then out = x / amax, for n floats, all in the caller's stream.
__global__ void amax_kernel(float* amax, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(reinterpret_cast<int*>(amax), __float_as_int(fabsf(x[i])));
}

__global__ void divide_kernel(float* out, const float* x, const float* amax, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] / *amax;
}

void normalize_amax(float* out, float* amax, const float* x, int n, cudaStream_t stream) {
  cudaMemsetAsync(amax, 0, sizeof(float), stream);
  if (n <= 0) return;
  amax_kernel<<<(n + 255) / 256, 256, 0, stream>>>(amax, x, n);
  divide_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, amax, n);
}
