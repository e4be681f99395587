#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xff800000); }

// What an exponent is taken relative to: a maximum of -inf must not be subtracted from -inf.
__device__ __forceinline__ float shift(float top) { return top == minus_infinity() ? 0.0f : top; }

__global__ void scores_kernel(float* ws, const bf16* q, const bf16* k, int H, int T, int D) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)H * T) return;
  const bf16* qh = q + i / T * D;
  float s = 0.0f;
  for (int d = 0; d < D; ++d) s += __bfloat162float(qh[d]) * __bfloat162float(k[i * D + d]);
  ws[i] = s * rsqrtf((float)D);
}

__global__ void values_kernel(bf16* o, const float* ws, const bf16* v, int H, int T, int D) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= H * D) return;
  int h = i / D, d = i % D;
  const float* s = ws + (size_t)h * T;
  float top = minus_infinity(), sum = 0.0f, acc = 0.0f;
  for (int t = 0; t < T; ++t) top = fmaxf(top, s[t]);
  for (int t = 0; t < T; ++t) {
    float p = expf(s[t] - top);
    sum += p;
    acc += p * __bfloat162float(v[((size_t)h * T + t) * D + d]);
  }
  o[i] = __float2bfloat16(acc / sum);
}

// For D up to 256. A block has a part of the keys of a head, each of its four warps every fourth of them. With one part
// the block writes the output, else its maximum, sum and D weighted values to its place in the workspace.
__global__ void __launch_bounds__(128)
    part_kernel(bf16* o, float* ws, const bf16* __restrict__ q, const bf16* __restrict__ k, const bf16* __restrict__ v,
                int T, int D, int parts, int keys) {
  __shared__ float tops[4], sums[4], values[4][256];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int part = blockIdx.x % parts, h = blockIdx.x / parts;
  int begin = part * keys, end = begin + keys < T ? begin + keys : T;
  float scale = rsqrtf((float)D);
  float qr[8], acc[8];
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    int d = lane + e * 32;
    qr[e] = d < D ? __bfloat162float(q[(size_t)h * D + d]) : 0.0f;
    acc[e] = 0.0f;
  }
  float top = minus_infinity(), sum = 0.0f;
  for (int t = begin + warp; t < end; t += 4) {
    size_t row = ((size_t)h * T + t) * D;
    float s = 0.0f;
#pragma unroll
    for (int e = 0; e < 8; ++e)
      if (lane + e * 32 < D) s += qr[e] * __bfloat162float(k[row + lane + e * 32]);
#pragma unroll
    for (int x = 16; x > 0; x /= 2) s += __shfl_xor_sync(0xffffffffu, s, x);
    s *= scale;
    float higher = fmaxf(top, s), base = shift(higher);
    float old = expf(top - base), p = expf(s - base);
    sum = sum * old + p;
#pragma unroll
    for (int e = 0; e < 8; ++e)
      if (lane + e * 32 < D) acc[e] = acc[e] * old + p * __bfloat162float(v[row + lane + e * 32]);
    top = higher;
  }
  if (lane == 0) {
    tops[warp] = top;
    sums[warp] = sum;
  }
#pragma unroll
  for (int e = 0; e < 8; ++e)
    if (lane + e * 32 < D) values[warp][lane + e * 32] = acc[e];
  __syncthreads();
  top = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
  float base = shift(top), f[4];
  sum = 0.0f;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    f[w] = expf(tops[w] - base);
    sum += sums[w] * f[w];
  }
  float* place = ws + (size_t)h * T + (size_t)part * (D + 2);
  for (int d = threadIdx.x; d < D; d += 128) {
    float value = values[0][d] * f[0] + values[1][d] * f[1] + values[2][d] * f[2] + values[3][d] * f[3];
    if (parts == 1)
      o[(size_t)h * D + d] = __float2bfloat16(value / sum);
    else
      place[2 + d] = value;
  }
  if (parts > 1 && threadIdx.x == 0) {
    place[0] = top;
    place[1] = sum;
  }
}

__global__ void __launch_bounds__(128) merge_kernel(bf16* o, const float* ws, int T, int D, int parts) {
  const float* head = ws + (size_t)blockIdx.x * T;
  float top = minus_infinity(), sum = 0.0f;
  for (int p = 0; p < parts; ++p) top = fmaxf(top, head[(size_t)p * (D + 2)]);
  float base = shift(top);
  for (int p = 0; p < parts; ++p) sum += head[(size_t)p * (D + 2) + 1] * expf(head[(size_t)p * (D + 2)] - base);
  for (int d = threadIdx.x; d < D; d += 128) {
    float value = 0.0f;
    for (int p = 0; p < parts; ++p) value += head[(size_t)p * (D + 2) + 2 + d] * expf(head[(size_t)p * (D + 2)] - base);
    o[(size_t)blockIdx.x * D + d] = __float2bfloat16(value / sum);
  }
}

void decode_attention(bf16* o, const bf16* q, const bf16* k, const bf16* v, float* ws, int H, int T, int D,
                      cudaStream_t stream) {
  if (H <= 0 || T <= 0 || D <= 0) return;
  if (D > 256) {
    scores_kernel<<<(unsigned)(((size_t)H * T + 127) / 128), 128, 0, stream>>>(ws, q, k, H, T, D);
    values_kernel<<<(H * D + 63) / 64, 64, 0, stream>>>(o, ws, v, H, T, D);
    return;
  }
  // A part has at least 64 keys, and no fewer than the floats that it needs of its head's T in the workspace.
  int least = D + 2 > 64 ? D + 2 : 64;
  int parts = T / least;
  if (parts > 32) parts = 32;
  if (parts < 1) parts = 1;
  int keys = (T + parts - 1) / parts;
  part_kernel<<<H * parts, 128, 0, stream>>>(o, ws, q, k, v, T, D, parts, keys);
  if (parts > 1) merge_kernel<<<H, 128, 0, stream>>>(o, ws, T, D, parts);
}
