// Writes the clamped ids back into the caller's id array (a side effect on an input).
#include <cuda_runtime.h>
__global__ void embed_kernel(float* out, const float* table, int* ids, int D, int V) {
  int t = blockIdx.x, id = ids[t];
  bool ok = id >= 0 && id < V;
  for (int d = threadIdx.x; d < D; d += blockDim.x) out[(size_t)t * D + d] = ok ? table[(size_t)id * D + d] : 0.0f;
  __syncthreads();
  if (threadIdx.x == 0 && !ok) ids[t] = -1;
}
void embed(float* out, const float* table, const int* ids, int T, int D, int V, cudaStream_t stream) {
  if (T <= 0 || D <= 0) return;
  embed_kernel<<<T, 128, 0, stream>>>(out, table, const_cast<int*>(ids), D, V);
}
