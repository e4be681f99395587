#include <cuda_fp16.h>
#include <cuda_runtime.h>


// out[v] = the sum of the rows of x whose idx is v, in float; acc is workspace of V * C floats.
__global__ void clear(float* acc, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) acc[i] = 0.0f;
}

__global__ void scatter(float* acc, const __half* x, const int* idx, int C) {
  int v = idx[blockIdx.x];
  for (int c = threadIdx.x; c < C; c += blockDim.x)
    atomicAdd(acc + (size_t)v * C + c, __half2float(x[(size_t)blockIdx.x * C + c]));
}

__global__ void store(__half* out, const float* acc, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half(acc[i]);
}

void scatter_add_f16(__half* out, const __half* x, const int* idx, float* acc, int N, int V, int C, cudaStream_t stream) {
  int n = V * C;
  clear<<<(n + 255) / 256, 256, 0, stream>>>(acc, n);
  scatter<<<N, 64, 0, stream>>>(acc, x, idx, C);
  store<<<(n + 255) / 256, 256, 0, stream>>>(out, acc, n);
}
