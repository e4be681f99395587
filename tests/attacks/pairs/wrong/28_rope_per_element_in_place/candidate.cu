#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Rotary embedding of (T, D) float vectors by neighbouring pairs; out may be x. A block per vector and a thread per element,
// so that accesses coalesce.
__global__ void rope_kernel(float* out, const float* x, const float* freq, int width, int D) {
  const float* src = x + (size_t)blockIdx.x * D;
  float* dst = out + (size_t)blockIdx.x * D;
  for (int j = threadIdx.x; j < width; j += blockDim.x) {
    float sn, cs;
    sincosf(blockIdx.x * freq[j / 2], &sn, &cs);
    float mine = src[j], other = src[j ^ 1];
    dst[j] = j % 2 ? mine * cs + other * sn : mine * cs - other * sn;
  }
}

void rope(float* out, const float* x, const float* freq, int T, int D) {
  int width = D / 2 * 2;
  if (T > 0 && width > 0) rope_kernel<<<T, width < 128 ? 64 : 128>>>(out, x, freq, width, D);
}
