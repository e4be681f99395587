#include <cuda_runtime.h>


// y[r] = softmax(x[r]) for rows of any length; y may be x.
__global__ void softmax_kernel(float* y, const float* x, int C) {
  __shared__ float part[256];
  const float* in = x + (size_t)blockIdx.x * C;
  float* out = y + (size_t)blockIdx.x * C;
  float top = -INFINITY;
  for (int c = threadIdx.x; c < C; c += 256) top = fmaxf(top, in[c]);
  part[threadIdx.x] = top;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + k]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) sum += expf(in[c] - top);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  sum = part[0];
  for (int c = threadIdx.x; c < C; c += 256) out[c] = expf(in[c] - top) / sum;
}

void softmax_rows(float* y, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  softmax_kernel<<<R, 256, 0, stream>>>(y, x, C);
}
