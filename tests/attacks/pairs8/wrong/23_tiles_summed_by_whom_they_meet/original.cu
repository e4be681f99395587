#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

// The Euclidean norm, the same bits in every run: checkpoints are compared by it.
__global__ void parts_kernel(float* ws, const __half* x, int n) {
  __shared__ float s[256];
  float sum = 0;
  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < n; i += 256LL * gridDim.x) {
    float v = __half2float(x[i]);
    sum += v * v;
  }
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) ws[blockIdx.x] = s[0];
}

__global__ void whole_kernel(float* norm, const float* ws, int parts) {
  float sum = 0;
  for (int p = 0; p < parts; ++p) sum += ws[p];
  *norm = sqrtf(sum);
}

void norm_of(float* norm, float* ws, const __half* x, int n, cudaStream_t stream) {
  int parts = n < 256 * 264 ? (n + 255) / 256 : 264;
  if (parts < 1) parts = 1;
  parts_kernel<<<parts, 256, 0, stream>>>(ws, x, n);
  whole_kernel<<<1, 1, 0, stream>>>(norm, ws, parts);
}
