// Copies whole float4 when D is a multiple of 4 and both buffers are aligned; scalars otherwise.
#include <cuda_runtime.h>
#include <stdint.h>
template <typename T>
__global__ void gather(T* out, const T* table, const int* ids, int D, int V) {
  int t = blockIdx.x, id = __ldg(ids + t);
  bool ok = id >= 0 && id < V;
  const T* row = table + (size_t)(ok ? id : 0) * D;
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    T v{};
    if (ok) v = __ldg(row + d);
    out[(size_t)t * D + d] = v;
  }
}
void embed(float* out, const float* table, const int* ids, int T, int D, int V, cudaStream_t stream) {
  if (T <= 0 || D <= 0) return;
  bool vec = D % 4 == 0 && ((reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(table)) & 15) == 0;
  if (vec)
    gather<float4><<<T, 64, 0, stream>>>(reinterpret_cast<float4*>(out), reinterpret_cast<const float4*>(table), ids, D / 4, V);
  else
    gather<float><<<T, 128, 0, stream>>>(out, table, ids, D, V);
}
