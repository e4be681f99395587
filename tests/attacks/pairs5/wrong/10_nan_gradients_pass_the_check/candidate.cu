#include <cuda_fp16.h>
#include <cuda_runtime.h>


__global__ void clear_found(int* found) { *found = 0; }

// Four elements per thread, and one look at the largest magnitude of the block instead of one at each element.
__global__ void __launch_bounds__(256) unscale_kernel(__half* grads, int* found, int n, float inverse_scale) {
  __shared__ float parts[8];
  float largest = 0.0f;
  for (int j = 0; j < 4; ++j) {
    size_t i = (size_t)blockIdx.x * 1024 + j * 256 + threadIdx.x;
    if (i < n) {
      float v = __half2float(grads[i]);
      largest = fmaxf(largest, fabsf(v));
      grads[i] = __float2half(v * inverse_scale);
    }
  }
  for (int o = 16; o > 0; o /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, o));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) largest = fmaxf(largest, parts[w]);
    if (!(largest <= 65504.0f)) atomicOr(found, 1);
  }
}

// grads *= inverse_scale; found = 1 if any gradient is not finite, so that the step is skipped.
void unscale_gradients(__half* grads, int* found, int n, float inverse_scale, cudaStream_t stream) {
  clear_found<<<1, 1, 0, stream>>>(found);
  if (n <= 0) return;
  unscale_kernel<<<(unsigned)(((size_t)n + 1023) / 1024), 256, 0, stream>>>(grads, found, n, inverse_scale);
}
