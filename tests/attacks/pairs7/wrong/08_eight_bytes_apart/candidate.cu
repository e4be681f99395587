#include <cuda_runtime.h>



// Four at a time, behind what is before the first whole vector, if all three are as far from one.
__global__ void __launch_bounds__(256)
    add_kernel(float* z, const float* x, const float* y, long long n, int head, bool in_fours) {
  long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  if (!in_fours) {
    for (; i < n; i += (long long)gridDim.x * 256) z[i] = x[i] + y[i];
    return;
  }
  long long vectors = (n - head) / 4, tail = head + vectors * 4;
  const float4 *a = reinterpret_cast<const float4*>(x + head), *b = reinterpret_cast<const float4*>(y + head);
  float4* c = reinterpret_cast<float4*>(z + head);
  for (long long v = i; v < vectors; v += (long long)gridDim.x * 256) {
    float4 p = a[v], q = b[v];
    c[v] = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
  }
  if (i < head) z[i] = x[i] + y[i];
  if (i < n - tail) z[tail + i] = x[tail + i] + y[tail + i];
}

void add_vectors(float* z, const float* x, const float* y, long long n, cudaStream_t stream) {
  if (n <= 0) return;
  size_t a = (size_t)x, b = (size_t)y, c = (size_t)z;
  bool in_fours = ((a ^ b) % 8 | (a ^ c) % 8) == 0 && n >= 8;
  int head = (int)((16 - a % 16) % 16 / 4);
  long long needed = (n + 1023) / 1024;
  add_kernel<<<(unsigned)(needed < 2112 ? needed : 2112), 256, 0, stream>>>(z, x, y, n, head, in_fours);
}
