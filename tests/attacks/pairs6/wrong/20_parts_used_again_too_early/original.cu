#include <cuda_runtime.h>


// y = (x - mean) / sqrt(variance + eps) over the whole tensor; stats = {mean, 1 / sqrt(variance + eps)}; parts is workspace of 256 floats.
__global__ void sums_kernel(float* parts, const float* x, const float* stats, size_t n, bool squares) {
  __shared__ float part[256];
  float mean = squares ? stats[0] : 0.0f, s = 0.0f;
  for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) {
    float d = x[i] - mean;
    s += squares ? d * d : d;
  }
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = part[0];
}

__global__ void stats_kernel(float* stats, const float* parts, int blocks, size_t n, float eps, bool squares) {
  float s = 0.0f;
  for (int b = 0; b < blocks; ++b) s += parts[b];
  if (squares) stats[1] = 1.0f / sqrtf(s / n + eps);
  else stats[0] = s / n;
}

__global__ void standardize_kernel(float* y, const float* x, const float* stats, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (x[i] - stats[0]) * stats[1];
}

void standardize(float* y, float* stats, float* parts, const float* x, int n, float eps, cudaStream_t stream) {
  if (n <= 0) return;
  size_t count = n, wanted = (count + 1023) / 1024;
  int blocks = wanted < 256 ? (int)wanted : 256;
  for (int pass = 0; pass < 2; ++pass) {
    sums_kernel<<<blocks, 256, 0, stream>>>(parts, x, stats, count, pass == 1);
    stats_kernel<<<1, 1, 0, stream>>>(stats, parts, blocks, count, eps, pass == 1);
  }
  standardize_kernel<<<(unsigned)((count + 255) / 256), 256, 0, stream>>>(y, x, stats, count);
}
