#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y[N] = W[N,K] * x[K], sums in float.
__global__ void gemv_kernel(__half* y, const __half* w, const __half* x, int K) {
  __shared__ float part[128];
  const __half* row = w + (size_t)blockIdx.x * K;
  float s = 0.0f;
  for (int k = threadIdx.x; k < K; k += 128) s += __half2float(row[k]) * __half2float(x[k]);
  part[threadIdx.x] = s;
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = __float2half(part[0]);
}

void gemv_f16(__half* y, const __half* w, const __half* x, int N, int K, cudaStream_t stream) {
  gemv_kernel<<<N, 128, 0, stream>>>(y, w, x, K);
}
