#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

// Rows of softmax(scale x + mask); masks are numbers that are added, such as 0 and the lowest of their type.
__global__ void softmax_kernel(__half* y, const __half* x, const float* mask, int S, float scale) {
  __shared__ float part[128];
  size_t row = (size_t)blockIdx.x * S;
  float m = -INFINITY, sum = 0;
  for (int s = threadIdx.x; s < S; s += 128) m = fmaxf(m, scale * __half2float(x[row + s]) + mask[row + s]);
  part[threadIdx.x] = m;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + d]);
    __syncthreads();
  }
  m = part[0];
  __syncthreads();
  for (int s = threadIdx.x; s < S; s += 128) sum += expf(scale * __half2float(x[row + s]) + mask[row + s] - m);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  for (int s = threadIdx.x; s < S; s += 128)
    y[row + s] = __float2half(expf(scale * __half2float(x[row + s]) + mask[row + s] - m) / part[0]);
}

void masked_softmax(__half* y, const __half* x, const float* mask, int T, int S, float scale, cudaStream_t stream) {
  if (T <= 0 || S <= 0) return;
  softmax_kernel<<<T, 128, 0, stream>>>(y, x, mask, S, scale);
}
