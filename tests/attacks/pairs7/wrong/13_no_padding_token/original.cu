#include <cuda_runtime.h>



// grad[ids[t]] += out[t], but for the token of the padding; a padding of -1 says that there is none.
__global__ void embedding_kernel(float* grad, const float* out, const int* ids, int T, int D, int padding) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)T * D) return;
  int id = ids[i / D];
  if (id != padding) atomicAdd(&grad[(size_t)id * D + i % D], out[i]);
}

void embedding_gradient(float* grad, const float* out, const int* ids, int T, int V, int D, int padding,
                        cudaStream_t stream) {
  if (V <= 0 || D <= 0) return;
  cudaMemsetAsync(grad, 0, (size_t)V * D * sizeof(float), stream);
  if (T > 0)
    embedding_kernel<<<(unsigned)(((size_t)T * D + 255) / 256), 256, 0, stream>>>(grad, out, ids, T, D, padding);
}
