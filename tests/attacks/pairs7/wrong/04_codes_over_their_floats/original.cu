#include <cuda_runtime.h>



// codes[r,c] = x[r,c] in 127ths of its row's largest magnitude, which is in scale. The codes may take the place of x: callers
// cast its memory.
__global__ void quantize_kernel(int* codes, float* scale, const float* x, int C) {
  __shared__ float most[256];
  size_t row = (size_t)blockIdx.x * C;
  int t = threadIdx.x;
  float m = 0.0f;
  for (int c = t; c < C; c += 256) m = fmaxf(m, fabsf(x[row + c]));
  most[t] = m;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) most[t] = fmaxf(most[t], most[t + half]);
    __syncthreads();
  }
  m = most[0];
  float factor = m > 0.0f ? 127.0f / m : 0.0f;
  for (int c = t; c < C; c += 256) codes[row + c] = __float2int_rn(x[row + c] * factor);
  if (t == 0) scale[blockIdx.x] = m;
}

void quantize_rows(int* codes, float* scale, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  quantize_kernel<<<R, 256, 0, stream>>>(codes, scale, x, C);
}
