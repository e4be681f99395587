#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Softmax over the last dimension of a (rows, cols) array.
__global__ void softmax_kernel(float* out, const float* x, int cols) {
  __shared__ float parts[256];
  const float* row = x + (size_t)blockIdx.x * cols;
  float top = -INFINITY;
  for (int j = threadIdx.x; j < cols; j += 256) top = fmaxf(top, row[j]);
  parts[threadIdx.x] = top;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + s]);
    __syncthreads();
  }
  top = parts[0];
  __syncthreads();
  float sum = 0.0f;
  for (int j = threadIdx.x; j < cols; j += 256) sum += expf(row[j] - top);
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) parts[threadIdx.x] += parts[threadIdx.x + s];
    __syncthreads();
  }
  sum = parts[0];
  for (int j = threadIdx.x; j < cols; j += 256) out[(size_t)blockIdx.x * cols + j] = expf(row[j] - top) / sum;
}

void softmax_rows(float* out, const float* x, int rows, int cols) {
  if (rows > 0) softmax_kernel<<<rows, 256>>>(out, x, cols);
}
