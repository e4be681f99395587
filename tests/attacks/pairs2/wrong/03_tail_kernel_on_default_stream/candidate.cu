#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// y = alpha * x + beta * y on the caller's stream.
__global__ void axpby_kernel(bf16* y, const bf16* x, float alpha, float beta, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2bfloat16(alpha * __bfloat162float(x[i]) + beta * __bfloat162float(y[i]));
}

__global__ void axpby_pairs(__nv_bfloat162* y, const __nv_bfloat162* x, float alpha, float beta, int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  float2 a = __bfloat1622float2(x[i]), b = __bfloat1622float2(y[i]);
  y[i] = __floats2bfloat162_rn(alpha * a.x + beta * b.x, alpha * a.y + beta * b.y);
}

cudaError_t axpby_bf16(bf16* y, const bf16* x, float alpha, float beta, int n, cudaStream_t stream) {
  if (n <= 0) return cudaSuccess;
  int pairs = n / 2;
  if (pairs > 0)
    axpby_pairs<<<(pairs + 255) / 256, 256, 0, stream>>>((__nv_bfloat162*)y, (const __nv_bfloat162*)x, alpha, beta, pairs);
  if (n % 2) axpby_kernel<<<1, 1>>>(y + n - 1, x + n - 1, alpha, beta, 1);
  return cudaGetLastError();
}
