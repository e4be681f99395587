#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


__global__ void row_mean_kernel(float* out, const bf16* x, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float s = 0.0f;
  for (int c = 0; c < C; ++c) s += __bfloat162float(x[(size_t)r * C + c]);
  out[r] = s / C;
}

void row_mean_bf16(float* out, const bf16* x, int R, int C, cudaStream_t stream) {
  row_mean_kernel<<<(R + 63) / 64, 64, 0, stream>>>(out, x, R, C);
}
