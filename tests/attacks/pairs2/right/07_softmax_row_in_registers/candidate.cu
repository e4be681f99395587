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

template <int ITEMS>
__global__ void __launch_bounds__(256) softmax_registers(bf16* out, const bf16* inp, float scale, int C) {
  __shared__ float part[8], part2[8];
  const bf16* x = inp + (size_t)blockIdx.x * C;
  bf16* y = out + (size_t)blockIdx.x * C;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float v[ITEMS];
  float top = -INFINITY;
#pragma unroll
  for (int j = 0; j < ITEMS; ++j) {
    int c = threadIdx.x + j * 256;
    v[j] = c < C ? __bfloat162float(x[c]) * scale : -INFINITY;
    top = fmaxf(top, v[j]);
  }
  for (int d = 16; d > 0; d >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
  if (lane == 0) part[warp] = top;
  __syncthreads();
  top = part[0];
  for (int w = 1; w < 8; ++w) top = fmaxf(top, part[w]);
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < ITEMS; ++j) {
    if (threadIdx.x + j * 256 < C) {
      v[j] = expf(v[j] - top);
      sum += v[j];
    }
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) part2[warp] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int w = 0; w < 8; ++w) sum += part2[w];
#pragma unroll
  for (int j = 0; j < ITEMS; ++j) {
    int c = threadIdx.x + j * 256;
    if (c < C) y[c] = __float2bfloat16(v[j] / sum);
  }
}

void softmax_bf16(bf16* out, const bf16* inp, float scale, int N, int C, cudaStream_t stream) {
  if (C <= 256)
    softmax_registers<1><<<N, 256, 0, stream>>>(out, inp, scale, C);
  else if (C <= 1024)
    softmax_registers<4><<<N, 256, 0, stream>>>(out, inp, scale, C);
  else if (C <= 4096)
    softmax_registers<16><<<N, 256, 0, stream>>>(out, inp, scale, C);
  else
    softmax_bf16_kernel<<<N, 256, 0, stream>>>(out, inp, scale, C);
}
