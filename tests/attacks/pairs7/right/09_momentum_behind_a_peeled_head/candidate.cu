#include <cuda_runtime.h>



// Views of one flat buffer begin anywhere, but all three at the same place within 16 bytes: up to three elements are done by
// themselves, then four at a time, then the rest. The first threads do both ends.
__device__ __forceinline__ void update(float& p, float& m, float g, float rate, float beta, float decay) {
  float v = beta * m + (g + decay * p);
  m = v;
  p -= rate * v;
}

__global__ void __launch_bounds__(256) momentum_kernel(float* p, float* m, const float* g, size_t n, size_t head,
                                                       size_t vectors, float rate, float beta, float decay) {
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x, singles = n - 4 * vectors;
  if (i < singles) {
    size_t at = i < head ? i : 4 * vectors + i;
    update(p[at], m[at], g[at], rate, beta, decay);
  }
  if (i >= vectors) return;
  float4 *ps = reinterpret_cast<float4*>(p + head) + i, *ms = reinterpret_cast<float4*>(m + head) + i;
  float4 a = *ps, b = *ms, c = reinterpret_cast<const float4*>(g + head)[i];
  update(a.x, b.x, c.x, rate, beta, decay);
  update(a.y, b.y, c.y, rate, beta, decay);
  update(a.z, b.z, c.z, rate, beta, decay);
  update(a.w, b.w, c.w, rate, beta, decay);
  *ps = a;
  *ms = b;
}

void momentum_step(float* p, float* m, const float* g, int n, float rate, float beta, float decay, cudaStream_t stream) {
  if (n <= 0) return;
  size_t a = (size_t)p, b = (size_t)m, c = (size_t)g, count = (size_t)n;
  bool alike = ((a ^ b) | (a ^ c)) % 16 == 0 && a % 4 == 0;
  size_t head = alike ? (16 - a % 16) % 16 / 4 : 0;
  if (head > count) head = count;
  size_t vectors = alike ? (count - head) / 4 : 0, singles = count - 4 * vectors;
  size_t threads = vectors > singles ? vectors : singles;
  momentum_kernel<<<(unsigned)((threads + 255) / 256), 256, 0, stream>>>(p, m, g, count, head, vectors, rate, beta, decay);
}
