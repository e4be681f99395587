#include <cuda_runtime.h>

__global__ void parts_kernel(float* parts, const float* x, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = s[0];
}
__global__ void sum_kernel(float* out, const float* parts, int blocks) {
  __shared__ float s[256];
  float sum = 0.0f;
  for (int b = threadIdx.x; b < blocks; b += 256) sum += parts[b];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[0] = s[0];
}

void total(float* out, const float* x, int n) {
  static float* parts = nullptr;
  if (parts == nullptr) cudaMalloc(&parts, 65536 * sizeof(float));
  int blocks = (n + 255) / 256;
  parts_kernel<<<blocks, 256>>>(parts, x, n);
  sum_kernel<<<1, 256>>>(out, parts, blocks);
}
