#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y[R,C] = softmax of the rows of x[R,C].
__global__ void softmax_kernel(__half* y, const __half* x, int C) {
  __shared__ float shared[256];
  int t = threadIdx.x;
  const __half* row = x + (size_t)blockIdx.x * C;
  float top = __int_as_float(0xff800000);
  for (int c = t; c < C; c += 256) top = fmaxf(top, __half2float(row[c]));
  shared[t] = top;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (t < o) shared[t] = fmaxf(shared[t], shared[t + o]);
    __syncthreads();
  }
  top = shared[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = t; c < C; c += 256) sum += expf(__half2float(row[c]) - top);
  shared[t] = sum;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (t < o) shared[t] += shared[t + o];
    __syncthreads();
  }
  sum = shared[0];
  for (int c = t; c < C; c += 256) y[(size_t)blockIdx.x * C + c] = __float2half(expf(__half2float(row[c]) - top) / sum);
}

void softmax_rows(__half* y, const __half* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  softmax_kernel<<<R, 256, 0, stream>>>(y, x, C);
}
