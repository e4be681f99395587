#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// y = alpha * x + beta * y on the caller's stream.
__global__ void axpby_kernel(bf16* y, const bf16* x, float alpha, float beta, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2bfloat16(alpha * __bfloat162float(x[i]) + beta * __bfloat162float(y[i]));
}

cudaError_t axpby_bf16(bf16* y, const bf16* x, float alpha, float beta, int n, cudaStream_t stream) {
  if (n <= 0) return cudaSuccess;
  axpby_kernel<<<(n + 255) / 256, 256, 0, stream>>>(y, x, alpha, beta, n);
  return cudaGetLastError();
}
