#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (V) = base (V), then out[index[i]] += value[i] for n pairs; indices may repeat.
__global__ void copy_kernel(unsigned* out, const unsigned* base, int V) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < V) out[i] = base[i];
}

__global__ void scatter_kernel(unsigned* out, const int* index, const unsigned* value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[index[i]], value[i]);
}

void scatter_add(unsigned* out, const unsigned* base, const int* index, const unsigned* value, int V, int n) {
  if (V > 0) copy_kernel<<<(V + 255) / 256, 256>>>(out, base, V);
  if (n > 0) scatter_kernel<<<(n + 255) / 256, 256>>>(out, index, value, n);
}
