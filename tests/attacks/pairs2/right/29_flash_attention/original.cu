#include <cuda_fp16.h>
#include <cuda_runtime.h>


// out[T,H,D] = causal softmax(q k^T * scale) v; one block of 32 threads for each query and head, D up to 128; scores in workspace.
__global__ void causal_kernel(__half* out, const __half* q, const __half* k, const __half* v, float* score, float scale, int T, int H,
                              int D) {
  int t = blockIdx.x, h = blockIdx.y;
  float* row = score + ((size_t)h * T + t) * T;
  float top = -INFINITY;
  for (int s = threadIdx.x; s <= t; s += 32) {
    float dot = 0.0f;
    for (int d = 0; d < D; ++d) dot += __half2float(q[((size_t)t * H + h) * D + d]) * __half2float(k[((size_t)s * H + h) * D + d]);
    row[s] = dot * scale;
    top = fmaxf(top, dot * scale);
  }
  for (int m = 16; m > 0; m >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, m));
  float sum = 0.0f;
  for (int s = threadIdx.x; s <= t; s += 32) {
    float e = expf(row[s] - top);
    row[s] = e;
    sum += e;
  }
  for (int m = 16; m > 0; m >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, m);
  __syncthreads();
  for (int d = threadIdx.x; d < D; d += 32) {
    float acc = 0.0f;
    for (int s = 0; s <= t; ++s) acc += row[s] * __half2float(v[((size_t)s * H + h) * D + d]);
    out[((size_t)t * H + h) * D + d] = __float2half(acc / sum);
  }
}

void causal_attention_f16(__half* out, const __half* q, const __half* k, const __half* v, float* score, float scale, int T, int H,
                          int D, cudaStream_t stream) {
  causal_kernel<<<dim3(T, H), 32, 0, stream>>>(out, q, k, v, score, scale, T, H, D);
}
