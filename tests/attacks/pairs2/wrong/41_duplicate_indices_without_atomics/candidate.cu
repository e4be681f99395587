#include <cuda_runtime.h>


// dw[V,C] += for each token the row of dy at its index: the gradient of an embedding, accumulated over micro-batches.
__global__ void embedding_grad_kernel(float* dw, const float* dy, const int* idx, int C) {
  int v = idx[blockIdx.x];
  // Equal neighbours collide; others have rows of their own.
  bool shared = (blockIdx.x > 0 && idx[blockIdx.x - 1] == v) || (blockIdx.x + 1 < gridDim.x && idx[blockIdx.x + 1] == v);
  for (int c = threadIdx.x; c < C; c += blockDim.x) {
    float* p = dw + (size_t)v * C + c;
    float g = dy[(size_t)blockIdx.x * C + c];
    if (shared)
      atomicAdd(p, g);
    else
      *p += g;
  }
}

void embedding_grad(float* dw, const float* dy, const int* idx, int N, int V, int C, cudaStream_t stream) {
  embedding_grad_kernel<<<N, 64, 0, stream>>>(dw, dy, idx, C);
}
