#include <cuda_runtime.h>


__device__ signed char quantize_value(float x, float scale, int zero) {
  float v = floorf(x / scale + 0.5f) + zero;
  return (signed char)(int)fminf(fmaxf(v, -128.0f), 127.0f);
}

__global__ void quantize_kernel(signed char* q, const float* x, const float* scale, int zero, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (size_t)R * C) q[i] = quantize_value(x[i], scale[i % C], zero);
}

// Four channels per thread: one load of 16 bytes each of values and scales, one store of 4.
__global__ void quantize_fours(char4* q, const float4* x, const float4* scale, int zero, int R, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C / 4) return;
  float4 s = scale[c];
  for (int r = blockIdx.y; r < R; r += gridDim.y) {
    size_t i = (size_t)r * (C / 4) + c;
    float4 v = x[i];
    q[i] = make_char4(quantize_value(v.x, s.x, zero), quantize_value(v.y, s.y, zero), quantize_value(v.z, s.z, zero),
                      quantize_value(v.w, s.w, zero));
  }
}

void quantize_int8(signed char* q, const float* x, const float* scale, int zero, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  if (C % 4 == 0 && ((size_t)x | (size_t)scale) % 16 == 0 && (size_t)q % 4 == 0)
    quantize_fours<<<dim3((C / 4 + 127) / 128, R < 2048 ? R : 2048), 128, 0, stream>>>((char4*)q, (const float4*)x,
                                                                                     (const float4*)scale, zero, R, C);
  else
    quantize_kernel<<<(unsigned)(((size_t)R * C + 255) / 256), 256, 0, stream>>>(q, x, scale, zero, R, C);
}
