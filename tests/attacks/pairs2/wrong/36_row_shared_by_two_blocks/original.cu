#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Softmax of rows; out may be inp.
__global__ void softmax_bf16_kernel(bf16* out, const bf16* inp, float scale, int C) {
  __shared__ float part[8];
  const bf16* x = inp + (size_t)blockIdx.x * C;
  bf16* y = out + (size_t)blockIdx.x * C;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float top = -INFINITY;
  for (int c = threadIdx.x; c < C; c += 256) top = fmaxf(top, __bfloat162float(x[c]) * scale);
  for (int d = 16; d > 0; d >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
  if (lane == 0) part[warp] = top;
  __syncthreads();
  top = part[0];
  for (int w = 1; w < 8; ++w) top = fmaxf(top, part[w]);
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) sum += expf(__bfloat162float(x[c]) * scale - top);
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int w = 0; w < 8; ++w) sum += part[w];
  for (int c = threadIdx.x; c < C; c += 256) y[c] = __float2bfloat16(expf(__bfloat162float(x[c]) * scale - top) / sum);
}

void softmax_bf16(bf16* out, const bf16* inp, float scale, int N, int C, cudaStream_t stream) {
  softmax_bf16_kernel<<<N, 256, 0, stream>>>(out, inp, scale, C);
}
