#include <cuda_runtime.h>


// out[0] = x[0]^2 + ... + x[n-1]^2, the same bits in every run; parts is workspace of 256 floats.
__global__ void parts_kernel(float* parts, const float* x, size_t n) {
  __shared__ float part[256];
  float s = 0.0f;
  for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) s += x[i] * x[i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = part[0];
}

__global__ void sum_kernel(float* out, const float* parts, int blocks) {
  __shared__ float part[256];
  part[threadIdx.x] = threadIdx.x < blocks ? parts[threadIdx.x] : 0.0f;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = part[0];
}

void sum_of_squares(float* out, float* parts, const float* x, int n, cudaStream_t stream) {
  size_t wanted = ((size_t)(n > 0 ? n : 1) + 255) / 256;
  int blocks = wanted < 256 ? (int)wanted : 256;
  parts_kernel<<<blocks, 256, 0, stream>>>(parts, x, (size_t)(n > 0 ? n : 0));
  sum_kernel<<<1, 256, 0, stream>>>(out, parts, blocks);
}
