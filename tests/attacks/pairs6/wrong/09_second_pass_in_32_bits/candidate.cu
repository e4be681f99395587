#include <cuda_bf16.h>
#include <cuda_runtime.h>


// A warp for each row, no shared memory.
__global__ void __launch_bounds__(256) tops_kernel(float* top, const __nv_bfloat16* x, int R, int C) {
  size_t r = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
  if (r >= (size_t)R) return;
  const __nv_bfloat16* row = x + r * C;
  float m = 0.0f;
  for (int c = threadIdx.x % 32; c < C; c += 32) m = fmaxf(m, fabsf(__bfloat162float(row[c])));
  for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
  if (threadIdx.x % 32 == 0) top[r] = m;
}

// A division of 64 bits takes longer than all the rest: the element's number is kept in 32 bits, without a sign.
__global__ void __launch_bounds__(256)
    scale_kernel(__nv_bfloat16* y, const __nv_bfloat16* x, const float* top, size_t total, unsigned C) {
  unsigned i = blockIdx.x * 256u + threadIdx.x;
  if (i >= total) return;
  float m = top[i / C];
  y[i] = __float2bfloat16(m > 0.0f ? __bfloat162float(x[i]) / m : 0.0f);
}

void normalize_rows(__nv_bfloat16* y, float* top, const __nv_bfloat16* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  size_t total = (size_t)R * C;
  tops_kernel<<<(unsigned)(((size_t)R + 7) / 8), 256, 0, stream>>>(top, x, R, C);
  scale_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(y, x, top, total, (unsigned)C);
}
