#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y[m] = A[m] . x of halves, summed in float; A has rows of `pitch` halves, of which the first K count.
__global__ void gemv_kernel(__half* y, const __half* A, const __half* x, int M, int K, int pitch) {
  int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  float acc = 0.0f;
  for (int k = 0; k < K; ++k) acc += __half2float(A[(size_t)m * pitch + k]) * __half2float(x[k]);
  y[m] = __float2half(acc);
}

void gemv(__half* y, const __half* A, const __half* x, int M, int K, int pitch, cudaStream_t stream) {
  if (M <= 0) return;
  gemv_kernel<<<(unsigned)(((size_t)M + 127) / 128), 128, 0, stream>>>(y, A, x, M, K, pitch);
}
