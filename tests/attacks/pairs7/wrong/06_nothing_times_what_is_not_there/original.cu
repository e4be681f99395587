#include <cuda_runtime.h>



// One query for each b against the first lengths[b] keys of its cache; what is behind them was never written.
__global__ void decode_kernel(float* out, const float* q, const float* k, const float* v, const int* lengths, int B, int T,
                              int D) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)B * D) return;
  size_t b = i / D, d = i % D;
  int length = min(max(lengths[b], 1), T);
  const float *qs = q + b * D, *ks = k + b * T * D, *vs = v + b * T * D;
  float scale = rsqrtf((float)D), most = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int t = 0; t < length; ++t) {
    float s = 0.0f;
    for (int e = 0; e < D; ++e) s += qs[e] * ks[(size_t)t * D + e];
    s *= scale;
    float larger = fmaxf(most, s), shrink = expf(most - larger), p = expf(s - larger);
    sum = sum * shrink + p;
    acc = acc * shrink + p * vs[(size_t)t * D + d];
    most = larger;
  }
  out[i] = acc / sum;
}

void decode_attention(float* out, const float* q, const float* k, const float* v, const int* lengths, int B, int T, int D,
                      cudaStream_t stream) {
  if (B <= 0 || D <= 0 || T <= 0) return;
  decode_kernel<<<(unsigned)(((size_t)B * D + 127) / 128), 128, 0, stream>>>(out, q, k, v, lengths, B, T, D);
}
