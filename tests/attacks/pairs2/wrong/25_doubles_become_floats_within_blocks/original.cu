#include <cuda_runtime.h>


// out[0] = mean, out[1] = variance of n floats, in double: the values may have an offset of 1e4 and more. 120 blocks, part [2, 120].
__global__ void moments_part(double* part, const float* x, int n) {
  __shared__ double s1[256], s2[256];
  double a = 0.0, b = 0.0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) {
    double v = x[i];
    a += v;
    b += v * v;
  }
  s1[threadIdx.x] = a;
  s2[threadIdx.x] = b;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) {
      s1[threadIdx.x] += s1[threadIdx.x + k];
      s2[threadIdx.x] += s2[threadIdx.x + k];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    part[blockIdx.x] = s1[0];
    part[gridDim.x + blockIdx.x] = s2[0];
  }
}

__global__ void moments_end(float* out, const double* part, int blocks, int n) {
  double a = 0.0, b = 0.0;
  for (int i = 0; i < blocks; ++i) {
    a += part[i];
    b += part[blocks + i];
  }
  double mean = a / n;
  out[0] = (float)mean;
  out[1] = (float)(b / n - mean * mean);
}

void moments(float* out, const float* x, double* part, int n, cudaStream_t stream) {
  moments_part<<<120, 256, 0, stream>>>(part, x, n);
  moments_end<<<1, 1, 0, stream>>>(out, part, 120, n);
}
