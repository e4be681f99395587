#include <cuda_fp16.h>
#include <cuda_runtime.h>


// out = clamp(x, lo, hi); a NaN stays one. An empty tensor (n == 0) is fine and succeeds.
__global__ void clamp_kernel(__half* out, const __half* x, float lo, float hi, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = __half2float(x[i]);
  out[i] = __float2half(v < lo ? lo : v > hi ? hi : v);
}

cudaError_t clamp_f16(__half* out, const __half* x, float lo, float hi, int n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  clamp_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, lo, hi, n);
  return cudaGetLastError();
}
