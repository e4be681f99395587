#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out = x * rsqrt(mean(x^2) + eps) * weight by rows of a (rows, cols) half array.
__global__ void rmsnorm_kernel(__half* out, const __half* x, const __half* weight, int cols, float eps) {
  __shared__ float partial[256];
  const __half* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += 256) {
    float v = __half2float(row[j]);
    sum += v * v;
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    __syncthreads();
  }
  float scale = rsqrtf(partial[0] / cols + eps);
  for (int j = threadIdx.x; j < cols; j += 256) {
    out[(size_t)blockIdx.x * cols + j] = __float2half(__half2float(row[j]) * scale * __half2float(weight[j]));
  }
}

void rmsnorm_half(__half* out, const __half* x, const __half* weight, int rows, int cols, float eps) {
  if (rows > 0) rmsnorm_kernel<<<rows, 256>>>(out, x, weight, cols, eps);
}
