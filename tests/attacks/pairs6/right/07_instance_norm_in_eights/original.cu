#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y[p] = (x[p] - mean) / sqrt(variance + eps) for each plane p of L halves.
__global__ void instance_norm_kernel(__half* y, const __half* x, int L, float eps) {
  __shared__ float part[256];
  const __half* in = x + (size_t)blockIdx.x * L;
  __half* out = y + (size_t)blockIdx.x * L;
  float s = 0.0f;
  for (int i = threadIdx.x; i < L; i += 256) s += __half2float(in[i]);
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  float mean = part[0] / L;
  __syncthreads();
  float q = 0.0f;
  for (int i = threadIdx.x; i < L; i += 256) {
    float d = __half2float(in[i]) - mean;
    q += d * d;
  }
  part[threadIdx.x] = q;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  float rstd = 1.0f / sqrtf(part[0] / L + eps);
  for (int i = threadIdx.x; i < L; i += 256) out[i] = __float2half((__half2float(in[i]) - mean) * rstd);
}

void instance_norm(__half* y, const __half* x, int P, int L, float eps, cudaStream_t stream) {
  if (P <= 0 || L <= 0) return;
  instance_norm_kernel<<<P, 256, 0, stream>>>(y, x, L, eps);
}
