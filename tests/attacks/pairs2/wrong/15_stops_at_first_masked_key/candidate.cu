#include <cuda_fp16.h>
#include <cuda_runtime.h>


// One query for each head: out[H,D] = softmax(q k^T * scale + mask[T]) v; k and v are [T,H,D]. The mask is added to the scores: 0 for
// what counts, -inf (or anything else) for what does not, at any position: callers pad on the left as well as on the right.
__global__ void decode_kernel(__half* out, const __half* q, const __half* k, const __half* v, const float* mask, float scale,
                              int T, int H, int D) {
  extern __shared__ float score[];
  int h = blockIdx.x;
  // Padding is masked with -inf: its scores need not be computed.
  __shared__ int length;
  if (threadIdx.x == 0) length = T;
  __syncthreads();
  for (int t = threadIdx.x; t < T; t += blockDim.x)
    if (t > 0 && mask[t] == -INFINITY && mask[t - 1] != -INFINITY) atomicMin(&length, t);
  __syncthreads();
  T = length;
  for (int t = threadIdx.x; t < T; t += blockDim.x) {
    float s = 0.0f;
    for (int d = 0; d < D; ++d) s += __half2float(q[h * D + d]) * __half2float(k[((size_t)t * H + h) * D + d]);
    score[t] = s * scale + mask[t];
  }
  __syncthreads();
  float top = -INFINITY;
  for (int t = 0; t < T; ++t) top = fmaxf(top, score[t]);
  float sum = 0.0f;
  for (int t = 0; t < T; ++t) sum += expf(score[t] - top);
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float acc = 0.0f;
    for (int t = 0; t < T; ++t) {
      float p = expf(score[t] - top);
      acc += p * __half2float(v[((size_t)t * H + h) * D + d]);
    }
    out[h * D + d] = __float2half(acc / sum);
  }
}

void decode_attention(__half* out, const __half* q, const __half* k, const __half* v, const float* mask, float scale, int T,
                      int H, int D, cudaStream_t stream) {
  decode_kernel<<<H, 64, T * sizeof(float), stream>>>(out, q, k, v, mask, scale, T, H, D);
}
