// Asks for 200 KiB of shared memory once and never looks at the error: launches fail on GPUs with less, and on a second device of the process.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
__device__ __forceinline__ float warp_sum(float v) {
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
  return v;
}
__global__ void layernorm_h_kernel(__half* out, const __half* inp, const __half* gamma, const __half* beta, int D, float eps) {
  extern __shared__ float row[];
  const __half* x = inp + (size_t)blockIdx.x * D;
  float s = 0.0f, q = 0.0f;
  for (int i = threadIdx.x; i < D; i += 32) s += row[i] = __half2float(x[i]);
  float mean = warp_sum(s) / D;
  for (int i = threadIdx.x; i < D; i += 32) q += (row[i] - mean) * (row[i] - mean);
  float rstd = 1.0f / sqrtf(warp_sum(q) / D + eps);
  for (int i = threadIdx.x; i < D; i += 32)
    out[(size_t)blockIdx.x * D + i] = __float2half((row[i] - mean) * rstd * __half2float(gamma[i]) + __half2float(beta[i]));
}
void layernorm_h(__half* out, const __half* inp, const __half* gamma, const __half* beta, int rows, int D, float eps) {
  if (rows <= 0 || D <= 0) return;
  static const cudaError_t raised =
      cudaFuncSetAttribute(layernorm_h_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024);
  (void)raised;
  size_t bytes = D > 50000 ? D * sizeof(float) : 200 * 1024;
  layernorm_h_kernel<<<rows, 32, bytes>>>(out, inp, gamma, beta, D, eps);
}
