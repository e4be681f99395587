#include <cuda_runtime.h>


// y = softmax(x) over the whole vector; parts is workspace of 512 floats.
__global__ void max_kernel(float* parts, const float* x, size_t n) {
  __shared__ float part[256];
  float m = -INFINITY;
  for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) m = fmaxf(m, x[i]);
  part[threadIdx.x] = m;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + k]);
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = part[0];
}

__global__ void sum_kernel(float* parts, const float* x, size_t n, int blocks) {
  __shared__ float part[256];
  float top = -INFINITY, s = 0.0f;
  for (int b = 0; b < blocks; ++b) top = fmaxf(top, parts[b]);
  for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) s += expf(x[i] - top);
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[256 + blockIdx.x] = part[0];
}

__global__ void divide_kernel(float* y, const float* parts, const float* x, size_t n, int blocks) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float top = -INFINITY, s = 0.0f;
  for (int b = 0; b < blocks; ++b) {
    top = fmaxf(top, parts[b]);
    s += parts[256 + b];
  }
  y[i] = expf(x[i] - top) / s;
}

void softmax_all(float* y, float* parts, const float* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  size_t count = n, wanted = (count + 2047) / 2048;
  int blocks = wanted < 64 ? (int)wanted : 64;
  max_kernel<<<blocks, 256, 0, stream>>>(parts, x, count);
  sum_kernel<<<blocks, 256, 0, stream>>>(parts, x, count, blocks);
  divide_kernel<<<(unsigned)((count + 255) / 256), 256, 0, stream>>>(y, parts, x, count, blocks);
}
