#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// out[r,c] = x[r,c] * s[r]; tokens are rows, and there may be millions of them.
__global__ void row_scale_kernel(bf16* out, const bf16* x, const float* s, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  size_t i = (size_t)blockIdx.y * C + c;
  out[i] = __float2bfloat16(__bfloat162float(x[i]) * s[blockIdx.y]);
}

cudaError_t row_scale_bf16(bf16* out, const bf16* x, const float* s, int R, int C, cudaStream_t stream) {
  row_scale_kernel<<<dim3((C + 127) / 128, R), 128, 0, stream>>>(out, x, s, C);
  return cudaGetLastError();
}
