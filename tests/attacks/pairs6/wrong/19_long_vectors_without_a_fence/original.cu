#include <cuda_runtime.h>


// out[0] = a[0] b[0] + ... + a[n-1] b[n-1], the same bits in every run; parts is workspace of 512 floats.
__global__ void parts_kernel(float* parts, const float* a, const float* b, size_t n) {
  __shared__ float part[256];
  float s = 0.0f;
  for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) s += a[i] * b[i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = part[0];
}

__global__ void sum_kernel(float* out, const float* parts, int blocks) {
  __shared__ float part[512];
  part[threadIdx.x] = threadIdx.x < blocks ? parts[threadIdx.x] : 0.0f;
  __syncthreads();
  for (int k = 256; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = part[0];
}

void dot(float* out, float* parts, const float* a, const float* b, int n, cudaStream_t stream) {
  size_t count = n > 0 ? n : 0, wanted = (count + 255) / 256;
  int blocks = wanted < 1 ? 1 : wanted < 512 ? (int)wanted : 512;
  parts_kernel<<<blocks, 256, 0, stream>>>(parts, a, b, count);
  sum_kernel<<<1, 512, 0, stream>>>(out, parts, blocks);
}
