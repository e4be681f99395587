#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y = x / sqrt(mean(x^2) + eps) * w, a block per row.
__global__ void rmsnorm_kernel(__half* y, const __half* x, const __half* w, int D, float eps) {
  __shared__ float sums[256];
  const __half* row = x + (size_t)blockIdx.x * D;
  float s = 0.0f;
  for (int d = threadIdx.x; d < D; d += 256) {
    float v = __half2float(row[d]);
    s += v * v;
  }
  sums[threadIdx.x] = s;
  __syncthreads();
  for (int o = 128; o > 0; o /= 2) {
    if (threadIdx.x < o) sums[threadIdx.x] += sums[threadIdx.x + o];
    __syncthreads();
  }
  float r = 1.0f / sqrtf(sums[0] / D + eps);
  for (int d = threadIdx.x; d < D; d += 256)
    y[(size_t)blockIdx.x * D + d] = __float2half(__half2float(row[d]) * r * __half2float(w[d]));
}

void rmsnorm(__half* y, const __half* x, const __half* w, int N, int D, float eps, cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  rmsnorm_kernel<<<N, 256, 0, stream>>>(y, x, w, D, eps);
}
