#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Query i sees the keys i - window + 1 ... i. A block of 64 threads per query, the scores in shared memory.
__global__ void window_attention_kernel(__half* o, const __half* q, const __half* k, const __half* v, int T,
                                        int window) {
  extern __shared__ float scores[];
  __shared__ float largest, total;
  int i = blockIdx.x, t = threadIdx.x;
  size_t head = (size_t)blockIdx.y * T;
  int first = i - window + 1 > 0 ? i - window + 1 : 0, count = i - first + 1;
  for (int j = t; j < count; j += 64) {
    float s = 0.0f;
    for (int d = 0; d < 64; ++d)
      s += __half2float(q[(head + i) * 64 + d]) * __half2float(k[(head + first + j) * 64 + d]);
    scores[j] = s * 0.125f;
  }
  __syncthreads();
  if (t == 0) {
    float m = scores[0];
    for (int j = 1; j < count; ++j) m = fmaxf(m, scores[j]);
    float sum = 0.0f;
    for (int j = 0; j < count; ++j) sum += expf(scores[j] - m);
    largest = m;
    total = sum;
  }
  __syncthreads();
  float acc = 0.0f;
  for (int j = 0; j < count; ++j) acc += expf(scores[j] - largest) * __half2float(v[(head + first + j) * 64 + t]);
  o[(head + i) * 64 + t] = __float2half(acc / total);
}

// 1 <= window <= 8192
void window_attention(__half* o, const __half* q, const __half* k, const __half* v, int H, int T, int window,
                      cudaStream_t stream) {
  if (H <= 0 || T <= 0 || window <= 0) return;
  int keys = window < T ? window : T;
  window_attention_kernel<<<dim3(T, H), 64, keys * sizeof(float), stream>>>(o, q, k, v, T, window);
}
