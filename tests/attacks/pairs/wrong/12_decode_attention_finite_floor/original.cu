#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// One query per batch entry: out (B, D) = softmax(q (B, D) . k (B, T, D) * scale) @ v (B, T, D); half data, float arithmetic.
__global__ void decode_kernel(__half* out, const __half* q, const __half* k, const __half* v, int B, int T, int D,
                              float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * D) return;
  int b = i / D, d = i % D;
  float top = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int pass = 0; pass < 2; ++pass) {
    for (int t = 0; t < T; ++t) {
      float s = 0.0f;
      for (int e = 0; e < D; ++e) s += __half2float(q[b * D + e]) * __half2float(k[((size_t)b * T + t) * D + e]);
      s *= scale;
      if (pass == 0) {
        top = fmaxf(top, s);
      } else {
        float p = expf(s - top);
        sum += p;
        acc += p * __half2float(v[((size_t)b * T + t) * D + d]);
      }
    }
  }
  out[i] = __float2half(acc / sum);
}

void decode_attention(__half* out, const __half* q, const __half* k, const __half* v, int B, int T, int D, float scale) {
  decode_kernel<<<(B * D + 63) / 64, 64>>>(out, q, k, v, B, T, D, scale);
}
