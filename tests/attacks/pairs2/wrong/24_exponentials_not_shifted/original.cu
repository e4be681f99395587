#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


__global__ void logsumexp_kernel(float* out, const bf16* x, int R, int C) {
  int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (r >= R) return;
  const bf16* row = x + (size_t)r * C;
  float top = -INFINITY;
  for (int c = lane; c < C; c += 32) top = fmaxf(top, __bfloat162float(row[c]));
  for (int d = 16; d > 0; d >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
  float sum = 0.0f;
  for (int c = lane; c < C; c += 32) sum += expf(__bfloat162float(row[c]) - top);
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) out[r] = top + logf(sum);
}

void logsumexp_bf16(float* out, const bf16* x, int R, int C, cudaStream_t stream) {
  logsumexp_kernel<<<(R + 3) / 4, 128, 0, stream>>>(out, x, R, C);
}
