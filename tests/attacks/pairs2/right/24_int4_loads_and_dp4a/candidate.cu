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

__global__ void gemv_vec(int* y, const int4* w, const int4* x, int vectors) {
  const int4* row = w + (size_t)blockIdx.x * vectors;
  int s = 0;
  for (int k = threadIdx.x; k < vectors; k += 32) {
    int4 a = row[k], b = x[k];
    s = __dp4a(a.x, b.x, s);
    s = __dp4a(a.y, b.y, s);
    s = __dp4a(a.z, b.z, s);
    s = __dp4a(a.w, b.w, s);
  }
  s = __reduce_add_sync(0xffffffffu, s);
  if (threadIdx.x == 0) y[blockIdx.x] = s;
}

void gemv_i8(int* y, const signed char* w, const signed char* x, int N, int K, cudaStream_t stream) {
  if (K % 16 == 0 && (((size_t)w | (size_t)x) & 15) == 0)
    gemv_vec<<<N, 32, 0, stream>>>(y, (const int4*)w, (const int4*)x, K / 16);
  else
    gemv_kernel<<<N, 64, 0, stream>>>(y, w, x, K);
}
