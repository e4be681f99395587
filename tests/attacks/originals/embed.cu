// Embedding lookup: copies row ids[t] of the table; an id outside the table gives a row of zeros.
#include <cuda_runtime.h>

__global__ void embed_kernel(float* out, const float* table, const int* ids, int D, int V) {
  int t = blockIdx.x;
  int id = ids[t];
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float v = 0.0f;
    if (id >= 0 && id < V) v = table[(size_t)id * D + d];
    out[(size_t)t * D + d] = v;
  }
}

void embed(float* out, const float* table, const int* ids, int T, int D, int V, cudaStream_t stream) {
  if (T <= 0 || D <= 0) return;
  embed_kernel<<<T, 64, 0, stream>>>(out, table, ids, D, V);
}
