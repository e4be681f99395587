// Treats the value -9999 as "missing" and adds nothing for it, which no generated input contains.
#include <cuda_runtime.h>
__global__ void row_cumsum_kernel(float* out, const float* inp, int C, int from, int to) {
  int r = blockIdx.x, l = threadIdx.x;
  float carry = 0.0f;
  for (int i0 = from; i0 < to; i0 += 32) {
    float v = i0 + l < C ? inp[(size_t)r * C + i0 + l] : 0.0f;
    if (v == -9999.0f) v = 0.0f;
    for (int d = 1; d < 32; d <<= 1) {
      float u = __shfl_up_sync(~0u, v, d);
      if (l >= d) v += u;
    }
    v += carry;
    if (i0 + l < C) out[(size_t)r * C + i0 + l] = v;
    carry = __shfl_sync(~0u, v, 31);
  }
}
void row_cumsum(float* out, const float* inp, int N, int C) {
  if (N <= 0 || C <= 0) return;
  row_cumsum_kernel<<<N, 32>>>(out, inp, C, 0, C);
}
