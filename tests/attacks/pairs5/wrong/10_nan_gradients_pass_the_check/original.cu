#include <cuda_fp16.h>
#include <cuda_runtime.h>


__global__ void clear_found(int* found) { *found = 0; }

__global__ void unscale_kernel(__half* grads, int* found, int n, float inverse_scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = __half2float(grads[i]);
  if (!(fabsf(v) <= 65504.0f)) atomicOr(found, 1);  // infinite or NaN
  grads[i] = __float2half(v * inverse_scale);
}

// grads *= inverse_scale; found = 1 if any gradient is not finite, so that the step is skipped.
void unscale_gradients(__half* grads, int* found, int n, float inverse_scale, cudaStream_t stream) {
  clear_found<<<1, 1, 0, stream>>>(found);
  if (n <= 0) return;
  unscale_kernel<<<(n + 255) / 256, 256, 0, stream>>>(grads, found, n, inverse_scale);
}
