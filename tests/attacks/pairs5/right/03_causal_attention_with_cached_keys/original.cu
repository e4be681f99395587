#include <cuda_fp16.h>
#include <cuda_runtime.h>


// The last query sees all keys, each one before it one key less; a query that sees none gives zeros. A block of 64 threads
// per query, the scores in shared memory.
__global__ void causal_attention_kernel(__half* o, const __half* q, const __half* k, const __half* v, int Tq, int Tk) {
  extern __shared__ float scores[];
  __shared__ float largest, total;
  int i = blockIdx.x % Tq, h = blockIdx.x / Tq, t = threadIdx.x;
  size_t qi = ((size_t)h * Tq + i) * 64, keys = (size_t)h * Tk * 64;
  int count = i + 1 + Tk - Tq;
  if (count <= 0) {
    o[qi + t] = __float2half(0.0f);
    return;
  }
  for (int j = t; j < count; j += 64) {
    float s = 0.0f;
    for (int d = 0; d < 64; ++d) s += __half2float(q[qi + d]) * __half2float(k[keys + (size_t)j * 64 + d]);
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
  for (int j = 0; j < count; ++j) acc += expf(scores[j] - largest) * __half2float(v[keys + (size_t)j * 64 + t]);
  o[qi + t] = __float2half(acc / total);
}

// Tk <= 8192
void causal_attention(__half* o, const __half* q, const __half* k, const __half* v, int H, int Tq, int Tk,
                      cudaStream_t stream) {
  if (H <= 0 || Tq <= 0 || Tk < 0) return;
  causal_attention_kernel<<<(unsigned)((size_t)H * Tq), 64, Tk * sizeof(float), stream>>>(o, q, k, v, Tq, Tk);
}
