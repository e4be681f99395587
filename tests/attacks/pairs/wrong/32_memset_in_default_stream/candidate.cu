#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// amax = largest |x|, then out = x / amax, for n floats. Blocks reduce their share before the atomic.
__global__ void __launch_bounds__(256) amax_kernel(float* amax, const float* x, int n) {
  __shared__ int parts[8];
  int top = 0;
  int stride = gridDim.x * 256;
  for (size_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += stride) top = max(top, __float_as_int(fabsf(x[i])));
  top = __reduce_max_sync(0xffffffffu, top);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = top;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) top = max(top, parts[w]);
    atomicMax(reinterpret_cast<int*>(amax), top);
  }
}

__global__ void __launch_bounds__(256) divide_kernel(float* out, const float* x, const float* amax, int n) {
  const float divisor = *amax;
  int stride = gridDim.x * 256;
  for (size_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += stride) out[i] = x[i] / divisor;
}

void normalize_amax(float* out, float* amax, const float* x, int n, cudaStream_t stream) {
  cudaMemset(amax, 0, sizeof(float));
  if (n <= 0) return;
  int blocks = (n + 1023) / 1024;
  if (blocks > 1056) blocks = 1056;
  amax_kernel<<<blocks, 256, 0, stream>>>(amax, x, n);
  divide_kernel<<<blocks, 256>>>(out, x, amax, n);
}
