#include <cuda_runtime.h>


// q = round(x * 127 / max|x|), scale[0] = max|x| / 127 of the whole tensor (1 where that is 0). part is workspace of 64 floats.
__global__ void absmax_part(float* part, const float* x, int n) {
  __shared__ float s[256];
  float m = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) m = fmaxf(m, fabsf(x[i]));
  s[threadIdx.x] = m;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads();
  }
  if (threadIdx.x == 0) part[blockIdx.x] = s[0];
}

__global__ void quantize(signed char* q, float* scale, const float* x, const float* part, int n) {
  float m = 0.0f;
  for (int i = 0; i < 64; ++i) m = fmaxf(m, part[i]);
  float f = m > 0.0f ? m / 127.0f : 1.0f;
  if (blockIdx.x == 0 && threadIdx.x == 0) *scale = f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) {
    float v = fminf(fmaxf(rintf(x[i] / f), -127.0f), 127.0f);
    q[i] = (signed char)(int)v;
  }
}

cudaError_t absmax_quantize(signed char* q, float* scale, const float* x, float* part, int n, cudaStream_t stream) {
  absmax_part<<<64, 256, 0, stream>>>(part, x, n);
  quantize<<<64, 256, 0, stream>>>(q, scale, x, part, n);
  return cudaGetLastError();
}
