#include <cuda_runtime.h>



// A block for each token, whose id is read once. The padding's row is cleared behind them, which costs less than to ask for each element.
__global__ void __launch_bounds__(256) embedding_kernel(float* grad, const float* out, const int* ids, int D) {
  float* to = grad + (size_t)ids[blockIdx.x] * D;
  const float* from = out + (size_t)blockIdx.x * D;
  for (int d = threadIdx.x; d < D; d += 256) atomicAdd(&to[d], from[d]);
}

void embedding_gradient(float* grad, const float* out, const int* ids, int T, int V, int D, int padding,
                        cudaStream_t stream) {
  if (V <= 0 || D <= 0) return;
  cudaMemsetAsync(grad, 0, (size_t)V * D * sizeof(float), stream);
  if (T > 0) embedding_kernel<<<T, 256, 0, stream>>>(grad, out, ids, D);
  if (padding < V) cudaMemsetAsync(grad + (ptrdiff_t)padding * D, 0, (size_t)D * sizeof(float), stream);
}
