#include <cuda_runtime.h>


// y[N] = w[N,K] * x[K] in integers.
__global__ void gemv_kernel(int* y, const signed char* w, const signed char* x, int K) {
  __shared__ int part[64];
  const signed char* row = w + (size_t)blockIdx.x * K;
  int s = 0;
  for (int k = threadIdx.x; k < K; k += 64) s += (int)row[k] * (int)x[k];
  part[threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 64; ++i) s += part[i];
    y[blockIdx.x] = s;
  }
}

void gemv_i8(int* y, const signed char* w, const signed char* x, int N, int K, cudaStream_t stream) {
  gemv_kernel<<<N, 64, 0, stream>>>(y, w, x, K);
}
