#include <cuda_fp16.h>
#include <cuda_runtime.h>


// A warp per group. Up to 128 values of it stay in registers between the two passes.
__global__ void __launch_bounds__(256)
    quantize_kernel(signed char* q, float* scale, const __half* __restrict__ x, int R, int C, int G, int groups) {
  size_t i = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
  if (i >= (size_t)R * groups) return;
  int lane = threadIdx.x % 32;
  size_t r = i / groups;
  int begin = (int)(i % groups) * G, size = G < C - begin ? G : C - begin;
  const __half* from = x + r * C + begin;
  signed char* to = q + r * C + begin;
  float kept[4], largest = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    int c = j * 32 + lane;
    kept[j] = c < size ? __half2float(from[c]) : 0.0f;
    largest = fmaxf(largest, fabsf(kept[j]));
  }
  for (int c = 128 + lane; c < size; c += 32) largest = fmaxf(largest, fabsf(__half2float(from[c])));
  for (int o = 16; o > 0; o /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, o));
  if (lane == 0) scale[i] = largest / 127.0f;
  float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    int c = j * 32 + lane;
    if (c < size) to[c] = (signed char)(int)fminf(fmaxf(rintf(kept[j] * inverse), -127.0f), 127.0f);
  }
  for (int c = 128 + lane; c < size; c += 32) {
    float v = rintf(__half2float(from[c]) * inverse);
    to[c] = (signed char)(int)fminf(fmaxf(v, -127.0f), 127.0f);
  }
}

void quantize_groups(signed char* q, float* scale, const __half* x, int R, int C, int G, cudaStream_t stream) {
  if (R <= 0 || C <= 0 || G <= 0) return;
  int groups = (C - 1) / G + 1;
  quantize_kernel<<<(unsigned)(((size_t)R * groups + 7) / 8), 256, 0, stream>>>(q, scale, x, R, C, G, groups);
}
