#include <cuda_runtime.h>



// y[t] = table[ids[t]]; ids outside of the table (-1 among them) give zeros.
__global__ void gather_kernel(float* y, const float* table, const long long* ids, int T, int V, int D) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)T * D) return;
  long long id = ids[i / D];
  y[i] = id >= 0 && id < V ? table[(size_t)id * D + i % D] : 0.0f;
}

void gather_rows(float* y, const float* table, const long long* ids, int T, int V, int D, cudaStream_t stream) {
  if (T <= 0 || D <= 0) return;
  gather_kernel<<<(unsigned)(((size_t)T * D + 255) / 256), 256, 0, stream>>>(y, table, ids, T, V, D);
}
