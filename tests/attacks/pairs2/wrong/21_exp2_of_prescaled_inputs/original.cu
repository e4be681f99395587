#include <cuda_runtime.h>


// Softmax of rows.
__global__ void softmax_kernel(float* out, const float* inp, int C) {
  __shared__ float part[256];
  const float* x = inp + (size_t)blockIdx.x * C;
  float* y = out + (size_t)blockIdx.x * C;
  int tid = threadIdx.x;
  float top = -INFINITY;
  for (int c = tid; c < C; c += 256) top = fmaxf(top, x[c]);
  part[tid] = top;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (tid < k) part[tid] = fmaxf(part[tid], part[tid + k]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = tid; c < C; c += 256) {
    float e = expf(x[c] - top);
    sum += e;
  }
  part[tid] = sum;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (tid < k) part[tid] += part[tid + k];
    __syncthreads();
  }
  sum = part[0];
  for (int c = tid; c < C; c += 256) y[c] = expf(x[c] - top) / sum;
}

void softmax(float* out, const float* inp, int N, int C, cudaStream_t stream) {
  softmax_kernel<<<N, 256, 0, stream>>>(out, inp, C);
}
