#include <cuda_fp16.h>
#include <cuda_runtime.h>


__device__ __forceinline__ signed char quantize(float v, float scale) {
  return (signed char)max(-127, min(127, __float2int_rn(v / scale)));
}

// A block has a row. Up to 4096 elements stay in registers between the two passes (kHeld), longer rows are read again;
// where rows are whole groups of four, four elements are read and written at a time.
template <bool kHeld>
__global__ void __launch_bounds__(256)
    rows_of_quads(signed char* q, float* scale, const __half* __restrict__ x, int C) {
  __shared__ float part[8];
  int t = threadIdx.x, quads = C / 4;
  const uint2* row = (const uint2*)(x + (size_t)blockIdx.x * C);
  char4* out = (char4*)(q + (size_t)blockIdx.x * C);
  uint2 held[4];
  float top = 0.0f;
#pragma unroll 4
  for (int j = 0; j < (kHeld ? 4 : (quads + 255) / 256); ++j) {
    int i = t + j * 256;
    uint2 u = i < quads ? row[i] : make_uint2(0, 0);
    if (kHeld) held[j & 3] = u;
    float2 a = __half22float2(*(__half2*)&u.x), b = __half22float2(*(__half2*)&u.y);
    top = fmaxf(top, fmaxf(fmaxf(fabsf(a.x), fabsf(a.y)), fmaxf(fabsf(b.x), fabsf(b.y))));
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
  if (t % 32 == 0) part[t / 32] = top;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < 8; ++w) top = fmaxf(top, part[w]);
  float s = top / 127.0f;
  if (t == 0) scale[blockIdx.x] = s;
#pragma unroll 4
  for (int j = 0; j < (kHeld ? 4 : (quads + 255) / 256); ++j) {
    int i = t + j * 256;
    if (i >= quads) break;
    uint2 u = kHeld ? held[j & 3] : row[i];
    float2 a = __half22float2(*(__half2*)&u.x), b = __half22float2(*(__half2*)&u.y);
    out[i] = make_char4(quantize(a.x, s), quantize(a.y, s), quantize(b.x, s), quantize(b.y, s));
  }
}

__global__ void __launch_bounds__(256) rows_of_any(signed char* q, float* scale, const __half* __restrict__ x, int C) {
  __shared__ float part[8];
  int t = threadIdx.x;
  size_t base = (size_t)blockIdx.x * C;
  float top = 0.0f;
  for (int c = t; c < C; c += 256) top = fmaxf(top, fabsf(__half2float(x[base + c])));
#pragma unroll
  for (int o = 16; o > 0; o /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
  if (t % 32 == 0) part[t / 32] = top;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < 8; ++w) top = fmaxf(top, part[w]);
  float s = top / 127.0f;
  if (t == 0) scale[blockIdx.x] = s;
  for (int c = t; c < C; c += 256) q[base + c] = quantize(__half2float(x[base + c]), s);
}

void quantize_rows(signed char* q, float* scale, const __half* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  if (C % 4 == 0 && (size_t)x % 8 == 0 && (size_t)q % 4 == 0) {
    if (C <= 4096)
      rows_of_quads<true><<<R, 256, 0, stream>>>(q, scale, x, C);
    else
      rows_of_quads<false><<<R, 256, 0, stream>>>(q, scale, x, C);
  } else {
    rows_of_any<<<R, 256, 0, stream>>>(q, scale, x, C);
  }
}
