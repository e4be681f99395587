#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

// Means of the columns. Sums of 64, of 64 of those, and of all of those, so that they stay exact to a few bits with any number of rows.
__global__ void parts_kernel(float* ws, const __nv_bfloat16* x, int R, int C, unsigned across) {
  long long c = (long long)(blockIdx.x % across) * 64 + threadIdx.x, part = blockIdx.x / across;
  if (c >= C) return;
  float sum = 0;
  for (int k = 0; k < 64; ++k) {
    float few = 0;
    for (int j = 0; j < 64; ++j) {
      long long r = part * 4096 + k * 64 + j;
      if (r < R) few += __bfloat162float(x[r * C + c]);
    }
    sum += few;
  }
  ws[part * C + c] = sum;
}

__global__ void mean_kernel(float* mean, const float* ws, int R, int C) {
  int c = blockIdx.x * 64 + threadIdx.x;
  if (c >= C) return;
  float sum = 0;
  for (long long p = 0; p < ((long long)R + 4095) / 4096; ++p) sum += ws[p * C + c];
  mean[c] = sum / R;
}

void column_mean(float* mean, float* ws, const __nv_bfloat16* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  unsigned across = ((unsigned)C + 63) / 64;
  parts_kernel<<<across * (unsigned)(((long long)R + 4095) / 4096), 64, 0, stream>>>(ws, x, R, C, across);
  mean_kernel<<<across, 64, 0, stream>>>(mean, ws, R, C);
}
