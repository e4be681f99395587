#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xff800000); }

// A warp has a row of at most 32 * kItems elements, all of them in registers.
template <int kItems>
__global__ void __launch_bounds__(128) softmax_warp(bf16* y, const bf16* x, int R, int C, float temperature) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  size_t base = (size_t)r * C;
  float v[kItems], top = minus_infinity(), sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    int c = lane + i * 32;
    v[i] = c < C ? __bfloat162float(x[base + c]) / temperature : minus_infinity();
    top = fmaxf(top, v[i]);
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    v[i] = expf(v[i] - top);
    if (lane + i * 32 < C) sum += v[i];
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (lane + i * 32 < C) y[base + lane + i * 32] = __float2bfloat16(v[i] / sum);
}

__device__ __forceinline__ void merge(float& top, float& sum, float other_top, float other_sum) {
  float higher = fmaxf(top, other_top);
  float base = higher == minus_infinity() ? 0.0f : higher;
  sum = sum * expf(top - base) + other_sum * expf(other_top - base);
  top = higher;
}

// Longer rows: a block has a row and finds maximum and sum in one pass (online).
__global__ void __launch_bounds__(256) softmax_block(bf16* y, const bf16* x, int C, float temperature) {
  __shared__ float tops[8], sums[8];
  int t = threadIdx.x;
  size_t row = (size_t)blockIdx.x * C;
  float top = minus_infinity(), sum = 0.0f;
  for (int c = t; c < C; c += 256) {
    float v = __bfloat162float(x[row + c]) / temperature;
    float higher = fmaxf(top, v), base = higher == minus_infinity() ? 0.0f : higher;
    sum = sum * expf(top - base) + expf(v - base);
    top = higher;
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2)
    merge(top, sum, __shfl_xor_sync(0xffffffffu, top, o), __shfl_xor_sync(0xffffffffu, sum, o));
  if (t % 32 == 0) {
    tops[t / 32] = top;
    sums[t / 32] = sum;
  }
  __syncthreads();
  top = tops[0];
  sum = sums[0];
#pragma unroll
  for (int w = 1; w < 8; ++w) merge(top, sum, tops[w], sums[w]);
  for (int c = t; c < C; c += 256)
    y[row + c] = __float2bfloat16(expf(__bfloat162float(x[row + c]) / temperature - top) / sum);
}

void softmax_temperature(bf16* y, const bf16* x, int R, int C, float temperature, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  if (C <= 32)
    softmax_warp<1><<<(R + 3) / 4, 128, 0, stream>>>(y, x, R, C, temperature);
  else if (C <= 128)
    softmax_warp<4><<<(R + 3) / 4, 128, 0, stream>>>(y, x, R, C, temperature);
  else if (C <= 512)
    softmax_warp<16><<<(R + 3) / 4, 128, 0, stream>>>(y, x, R, C, temperature);
  else
    softmax_block<<<R, 256, 0, stream>>>(y, x, C, temperature);
}
