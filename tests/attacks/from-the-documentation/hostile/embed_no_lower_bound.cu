// Does not test id >= 0: negative ids read before the table.
#include <cuda_runtime.h>
__global__ void embed_kernel(float* out, const float* table, const int* ids, int D, int V) {
  int id = __ldg(ids + blockIdx.x);
  float* o = out + (size_t)blockIdx.x * D;
  const float* r = table + (ptrdiff_t)id * D;
  bool ok = id < V;
  for (int d = threadIdx.x; d < D; d += blockDim.x) o[d] = ok ? __ldg(r + d) : 0.0f;
}
void embed(float* out, const float* table, const int* ids, int T, int D, int V, cudaStream_t stream) {
  if (T <= 0 || D <= 0) return;
  embed_kernel<<<T, 128, 0, stream>>>(out, table, ids, D, V);
}
