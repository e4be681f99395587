#include <cuda_runtime.h>



// Two blocks for each row: both look for its largest magnitude, which the second finds in the cache, and each writes half of the codes.
__global__ void __launch_bounds__(256) quantize_kernel(int* codes, float* scale, const float* x, int C) {
  __shared__ float most[8];
  size_t row = (size_t)(blockIdx.x / 2) * C;
  int t = threadIdx.x, part = blockIdx.x % 2;
  float m = 0.0f;
  for (int c = t; c < C; c += 256) m = fmaxf(m, fabsf(x[row + c]));
  for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (t % 32 == 0) most[t / 32] = m;
  __syncthreads();
  for (int w = 0; w < 8; ++w) m = fmaxf(m, most[w]);
  float factor = m > 0.0f ? 127.0f / m : 0.0f;
  int middle = C / 2, first = part == 0 ? 0 : middle, last = part == 0 ? middle : C;
  for (int c = first + t; c < last; c += 256) codes[row + c] = __float2int_rn(x[row + c] * factor);
  if (t == 0 && part == 0) scale[blockIdx.x / 2] = m;
}

void quantize_rows(int* codes, float* scale, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  quantize_kernel<<<2 * (unsigned)R, 256, 0, stream>>>(codes, scale, x, C);
}
