#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Rotary embedding of (T, D) float vectors by neighbouring pairs; out may be x.
__global__ void rope_kernel(float* out, const float* x, const float* freq, int T, int D) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= T * (D / 2)) return;
  int t = i / (D / 2), p = i % (D / 2);
  float angle = t * freq[p], cs = cosf(angle), sn = sinf(angle);
  float a = x[(size_t)t * D + 2 * p], b = x[(size_t)t * D + 2 * p + 1];
  out[(size_t)t * D + 2 * p] = a * cs - b * sn;
  out[(size_t)t * D + 2 * p + 1] = b * cs + a * sn;
}

void rope(float* out, const float* x, const float* freq, int T, int D) {
  int n = T * (D / 2);
  if (n > 0) rope_kernel<<<(n + 127) / 128, 128>>>(out, x, freq, T, D);
}
