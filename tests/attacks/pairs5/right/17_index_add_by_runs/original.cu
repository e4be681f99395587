#include <cuda_fp16.h>
#include <cuda_runtime.h>


// out[index[n]] += x[n] for every row n; rows whose index is outside of 0 ... V - 1 are left out.
__global__ void index_add_kernel(float* out, const int* index, const __half* x, int V, int N, int D) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * D) return;
  int row = index[i / D];
  if (row >= 0 && row < V) atomicAdd(&out[(size_t)row * D + i % D], __half2float(x[i]));
}

void index_add(float* out, const int* index, const __half* x, int V, int N, int D, cudaStream_t stream) {
  if (V <= 0 || N <= 0 || D <= 0) return;
  index_add_kernel<<<(unsigned)(((size_t)N * D + 255) / 256), 256, 0, stream>>>(out, index, x, V, N, D);
}
