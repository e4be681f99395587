#include <cuda_runtime.h>


// amax[0] = the largest |x[i]| (0 of nothing; NaN if there is one), by its bits, which are in order for numbers without a sign.
__global__ void amax_kernel(int* amax, const float* x, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(amax, __float_as_int(fabsf(x[i])));
}

void amax(float* out, const float* x, int n, cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(float), stream);
  if (n > 0)
    amax_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(reinterpret_cast<int*>(out), x, (size_t)n);
}
