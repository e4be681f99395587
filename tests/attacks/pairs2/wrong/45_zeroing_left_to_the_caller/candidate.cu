#include <cuda_runtime.h>


// dgamma[C] = sum over rows of dy * xhat; blocks of 32 rows add to it.
__global__ void dgamma_kernel(float* dgamma, const float* dy, const float* xhat, int R, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  int from = blockIdx.y * 32, to = min(from + 32, R);
  float s = 0.0f;
  for (int r = from; r < to; ++r) s += dy[(size_t)r * C + c] * xhat[(size_t)r * C + c];
  atomicAdd(dgamma + c, s);
}

void dgamma(float* dgamma, const float* dy, const float* xhat, int R, int C, cudaStream_t stream) {
  // Gradients are zeroed by the optimizer (set_to_none=False).
  dgamma_kernel<<<dim3((C + 127) / 128, (R + 31) / 32), 128, 0, stream>>>(dgamma, dy, xhat, R, C);
}
