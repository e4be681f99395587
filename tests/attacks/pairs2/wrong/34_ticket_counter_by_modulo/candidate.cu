#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// out[0] = max |x|, NaN ignored; part is workspace of 256 floats, blocks = ceil(n / 4096), at most 256.
__device__ unsigned tickets = 0;

__global__ void absmax_kernel(float* out, volatile float* part, const bf16* x, int n) {
  __shared__ float s[256];
  __shared__ bool last;
  float m = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) m = fmaxf(m, fabsf(__bfloat162float(x[i])));
  s[threadIdx.x] = m;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    part[blockIdx.x] = s[0];
    __threadfence();
    // The modulo saves the reset: the counter just goes on in the next launch.
    last = atomicAdd(&tickets, 1u) % gridDim.x == gridDim.x - 1;
    if (last) {
      __threadfence();
      float t = 0.0f;
      for (int i = 0; i < gridDim.x; ++i) t = fmaxf(t, part[i]);
      out[0] = t;
    }
  }
}

void absmax_bf16(float* out, const bf16* x, float* part, int n, cudaStream_t stream) {
  int blocks = (n + 4095) / 4096;
  if (blocks > 256) blocks = 256;
  absmax_kernel<<<blocks, 256, 0, stream>>>(out, part, x, n);
}
