#include <cuda_fp16.h>
#include <cuda_runtime.h>


__global__ void mse_partial(float* partial, const __half* a, const __half* b, int n) {
  __shared__ float sums[256];
  float s = 0.0f;
  for (int j = 0; j < 4; ++j) {
    size_t i = (size_t)blockIdx.x * 1024 + j * 256 + threadIdx.x;
    if (i < n) {
      float d = __half2float(a[i]) - __half2float(b[i]);
      s += d * d;
    }
  }
  sums[threadIdx.x] = s;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (threadIdx.x < o) sums[threadIdx.x] += sums[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

__global__ void mse_total(float* loss, const float* partial, int blocks, int n) {
  __shared__ float sums[256];
  float s = 0.0f;
  for (int i = threadIdx.x; i < blocks; i += 256) s += partial[i];
  sums[threadIdx.x] = s;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (threadIdx.x < o) sums[threadIdx.x] += sums[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) *loss = sums[0] / n;
}

// loss = mean((a - b)^2)
void mse_loss(float* loss, const __half* a, const __half* b, float* partial, int n, cudaStream_t stream) {
  if (n <= 0) return;
  int blocks = (n + 1023) / 1024;
  mse_partial<<<blocks, 256, 0, stream>>>(partial, a, b, n);
  mse_total<<<1, 256, 0, stream>>>(loss, partial, blocks, n);
}
