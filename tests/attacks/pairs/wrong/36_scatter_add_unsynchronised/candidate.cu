#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (V) = base (V), then out[index[i]] += value[i] for n pairs; indices may repeat. Equal indices of a warp are found with
// match_any and added up first, so that one lane updates the element for all of them.
__global__ void copy_kernel(unsigned* out, const unsigned* base, int V) {
  int stride = gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < V; i += stride) out[i] = base[i];
}

__global__ void __launch_bounds__(128) scatter_kernel(unsigned* out, const int* index, const unsigned* value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool valid = i < n;
  unsigned active = __ballot_sync(0xffffffffu, valid);
  if (!valid) return;
  int at = index[i];
  unsigned peers = __match_any_sync(active, at);
  unsigned sum = __reduce_add_sync(peers, value[i]);
  if (threadIdx.x % 32 == __ffs(peers) - 1) out[at] += sum;
}

void scatter_add(unsigned* out, const unsigned* base, const int* index, const unsigned* value, int V, int n) {
  int blocks = (V + 255) / 256;
  if (V > 0) copy_kernel<<<blocks < 1056 ? blocks : 1056, 256>>>(out, base, V);
  if (n > 0) scatter_kernel<<<(n + 127) / 128, 128>>>(out, index, value, n);
}
