#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Groups of G values of a row (the last one may be shorter) share a scale: largest magnitude / 127. A thread per group.
__global__ void quantize_kernel(signed char* q, float* scale, const __half* x, int R, int C, int G, int groups) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * groups) return;
  size_t r = i / groups;
  int begin = (int)(i % groups) * G, end = begin + G < C ? begin + G : C;
  float largest = 0.0f;
  for (int c = begin; c < end; ++c) largest = fmaxf(largest, fabsf(__half2float(x[r * C + c])));
  scale[i] = largest / 127.0f;
  float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;
  for (int c = begin; c < end; ++c) {
    float v = rintf(__half2float(x[r * C + c]) * inverse);
    q[r * C + c] = (signed char)(int)fminf(fmaxf(v, -127.0f), 127.0f);
  }
}

void quantize_groups(signed char* q, float* scale, const __half* x, int R, int C, int G, cudaStream_t stream) {
  if (R <= 0 || C <= 0 || G <= 0) return;
  int groups = (C + G - 1) / G;
  quantize_kernel<<<(unsigned)(((size_t)R * groups + 127) / 128), 128, 0, stream>>>(q, scale, x, R, C, G, groups);
}
