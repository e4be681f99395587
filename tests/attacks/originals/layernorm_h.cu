// Layer norm over rows stored as f16, computed in f32 with a two-pass variance.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ float block_total(float v, float* buf) {
  int t = threadIdx.x;
  __syncthreads();
  buf[t] = v;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) buf[t] += buf[t + s];
    __syncthreads();
  }
  return buf[0];
}

__global__ void layernorm_h_kernel(__half* out, const __half* inp, const __half* gamma, const __half* beta, int D,
                                   float eps) {
  __shared__ float buf[128];
  const __half* x = inp + (size_t)blockIdx.x * D;
  float s = 0.0f;
  for (int i = threadIdx.x; i < D; i += blockDim.x) s += __half2float(x[i]);
  float mean = block_total(s, buf) / D;
  float q = 0.0f;
  for (int i = threadIdx.x; i < D; i += blockDim.x) {
    float d = __half2float(x[i]) - mean;
    q += d * d;
  }
  float rstd = 1.0f / sqrtf(block_total(q, buf) / D + eps);
  for (int i = threadIdx.x; i < D; i += blockDim.x)
    out[(size_t)blockIdx.x * D + i] = __float2half(
        (__half2float(x[i]) - mean) * rstd * __half2float(gamma[i]) + __half2float(beta[i]));
}

void layernorm_h(__half* out, const __half* inp, const __half* gamma, const __half* beta, int rows, int D, float eps) {
  if (rows <= 0 || D <= 0) return;
  layernorm_h_kernel<<<rows, 128>>>(out, inp, gamma, beta, D, eps);
}
