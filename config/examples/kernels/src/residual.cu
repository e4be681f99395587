// Residual connection: out = a + b, for float and half.
#include "../include/common.cuh"

__global__ void residual_add_kernel(float* out, const float* a, const float* b, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = a[i] + b[i];
}

__global__ void residual_add_half_kernel(__half* out, const __half* a, const __half* b, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __hadd(a[i], b[i]);
}

void residual_add(float* out, const float* a, const float* b, size_t n) {
  const int threads = 64;
  residual_add_kernel<<<(n + threads - 1) / threads, threads>>>(out, a, b, n);
  CUDA_CHECK(cudaGetLastError());
}

void residual_add_half(__half* out, const __half* a, const __half* b, size_t n) {
  const int threads = 64;
  residual_add_half_kernel<<<(n + threads - 1) / threads, threads>>>(out, a, b, n);
  CUDA_CHECK(cudaGetLastError());
}
