#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


__global__ void row_mean_kernel(float* out, const bf16* x, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const bf16* row = x + (size_t)r * C;
  bf16 ahead[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) ahead[j] = row[j];
  float s = 0.0f;
  for (int c = 0; c < C; c += 8) {
    float now[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      now[j] = __bfloat162float(ahead[j]);
      ahead[j] = row[c + 8 + j];  // the next eight are on their way
    }
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (c + j < C) s += now[j];
  }
  out[r] = s / C;
}

void row_mean_bf16(float* out, const bf16* x, int R, int C, cudaStream_t stream) {
  row_mean_kernel<<<(R + 63) / 64, 64, 0, stream>>>(out, x, R, C);
}
