#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// amax: the largest magnitude of each row (NaN do not count); q = x / amax * 127, rounded; 0 in rows of zeros.
__global__ void amax_kernel(float* amax, const __nv_bfloat16* x, int C) {
  __shared__ float part[256];
  float m = 0;
  for (int c = threadIdx.x; c < C; c += 256) m = fmaxf(m, fabsf(__bfloat162float(x[(size_t)blockIdx.x * C + c])));
  part[threadIdx.x] = m;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + d]);
    __syncthreads();
  }
  if (threadIdx.x == 0) amax[blockIdx.x] = part[0];
}

__global__ void quantize_kernel(int8_t* q, const float* amax, const __nv_bfloat16* x, int R, int C) {
  long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  if (i >= (long long)R * C) return;
  float m = amax[i / C], v = m > 0 ? __bfloat162float(x[i]) / m * 127.f : 0.f;
  q[i] = (int8_t)fminf(fmaxf(rintf(v), -127.f), 127.f);
}

void quantize_row_max(int8_t* q, float* amax, const __nv_bfloat16* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  amax_kernel<<<R, 256, 0, stream>>>(amax, x, C);
  quantize_kernel<<<(unsigned)(((long long)R * C + 255) / 256), 256, 0, stream>>>(q, amax, x, R, C);
}
