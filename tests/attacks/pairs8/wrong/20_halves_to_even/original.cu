#include <cuda_runtime.h>

#include <cstdint>

// x / scale, halves away from zero, between -127 and 127.
__global__ void quantize_kernel(int8_t* q, const float* x, int n, float scale) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = roundf(x[i] / scale);
  q[i] = (int8_t)(v > 127.f ? 127.f : v < -127.f ? -127.f : v);
}

void quantize_tensor(int8_t* q, const float* x, int n, float scale, cudaStream_t stream) {
  if (n > 0) quantize_kernel<<<(unsigned)(((long long)n + 255) / 256), 256, 0, stream>>>(q, x, n, scale);
}
