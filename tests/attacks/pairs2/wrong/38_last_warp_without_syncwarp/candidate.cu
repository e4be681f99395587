#include <cuda_runtime.h>


// out[r] = a[r] . b[r]
__global__ void dot_kernel(float* out, const float* a, const float* b, int C) {
  __shared__ float s[256];
  size_t base = (size_t)blockIdx.x * C;
  float v = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) v += a[base + c] * b[base + c];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int k = 128; k > 32; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x < 32) {  // a warp runs in lock step
    volatile float* w = s;
    w[threadIdx.x] += w[threadIdx.x + 32];
    w[threadIdx.x] += w[threadIdx.x + 16];
    w[threadIdx.x] += w[threadIdx.x + 8];
    w[threadIdx.x] += w[threadIdx.x + 4];
    w[threadIdx.x] += w[threadIdx.x + 2];
    w[threadIdx.x] += w[threadIdx.x + 1];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

void dot(float* out, const float* a, const float* b, int R, int C, cudaStream_t stream) {
  dot_kernel<<<R, 256, 0, stream>>>(out, a, b, C);
}
