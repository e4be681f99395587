#include <cuda_runtime.h>

#include <cstdint>

// o = softmax(scale q k') v for each head; S > 0.
__global__ void attend_kernel(float* o, const float* q, const float* k, const float* v, int T, int S, int D, float scale) {
  long long row = (long long)blockIdx.x, h = row / T;
  q += row * D, k += h * S * D, v += h * S * D, o += row * D;
  float m = -INFINITY, sum = 0;
  for (int s = 0; s < S; ++s) {
    float dot = 0;
    for (int d = 0; d < D; ++d) dot += q[d] * k[(long long)s * D + d];
    m = fmaxf(m, dot * scale);
  }
  for (int d = threadIdx.x; d < D; d += 32) {
    float out = 0;
    sum = 0;
    for (int s = 0; s < S; ++s) {
      float dot = 0;
      for (int e = 0; e < D; ++e) dot += q[e] * k[(long long)s * D + e];
      float p = expf(dot * scale - m);
      sum += p;
      out += p * v[(long long)s * D + d];
    }
    o[d] = out / sum;
  }
}

void attend(float* o, const float* q, const float* k, const float* v, int H, int T, int S, int D, float scale, cudaStream_t stream) {
  if (H > 0 && T > 0 && S > 0 && D > 0) attend_kernel<<<(unsigned)H * T, 32, 0, stream>>>(o, q, k, v, T, S, D, scale);
}
