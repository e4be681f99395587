#include <cuda_runtime.h>



// The sum of all; it needs no memory, and so works where there is none left: it is what the report of an exhausted device calls.
__global__ void sum_kernel(float* sum, const float* x, int n) {
  __shared__ float parts[1024];
  int t = threadIdx.x;
  float s = 0.0f;
  for (long long i = t; i < n; i += 1024) s += x[i];
  parts[t] = s;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (t < half) parts[t] += parts[t + half];
    __syncthreads();
  }
  if (t == 0) sum[0] = parts[0];
}

void sum_all(float* sum, const float* x, int n, cudaStream_t stream) {
  sum_kernel<<<1, 1024, 0, stream>>>(sum, x, n);
}
