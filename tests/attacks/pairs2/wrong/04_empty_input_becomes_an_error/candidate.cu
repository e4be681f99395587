#include <cuda_fp16.h>
#include <cuda_runtime.h>


// out = clamp(x, lo, hi); a NaN stays one. An empty tensor (n == 0) is fine and succeeds.
__global__ void clamp_kernel(__half* out, const __half* x, float lo, float hi, int n) {
  int first = blockIdx.x * 2048 + threadIdx.x;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    int i = first + j * 256;
    if (i < n) {
      float v = __half2float(x[i]);
      out[i] = __float2half(v < lo ? lo : v > hi ? hi : v);
    }
  }
}

cudaError_t clamp_f16(__half* out, const __half* x, float lo, float hi, int n, cudaStream_t stream) {
  if (n < 0) return cudaErrorInvalidValue;
  // Eight elements per thread.
  clamp_kernel<<<(n + 2047) / 2048, 256, 0, stream>>>(out, x, lo, hi, n);
  return cudaGetLastError();
}
