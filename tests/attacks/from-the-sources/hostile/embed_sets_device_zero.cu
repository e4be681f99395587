// Switches the caller's thread to device 0 and leaves it there: callers on another device get an invalid stream and a changed device.
#include <cuda_runtime.h>
__global__ void embed_kernel(float* out, const float* table, const int* ids, int D, int V) {
  int t = blockIdx.x, id = ids[t];
  bool ok = id >= 0 && id < V;
  for (int d = threadIdx.x; d < D; d += blockDim.x) out[(size_t)t * D + d] = ok ? __ldg(table + (size_t)id * D + d) : 0.0f;
}
void embed(float* out, const float* table, const int* ids, int T, int D, int V, cudaStream_t stream) {
  cudaSetDevice(0);
  if (T <= 0 || D <= 0) return;
  embed_kernel<<<T, 128, 0, stream>>>(out, table, ids, D, V);
}
