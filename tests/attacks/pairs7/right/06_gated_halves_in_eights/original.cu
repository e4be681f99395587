#include <cuda_bf16.h>
#include <cuda_runtime.h>


// y[r,c] = silu(x[r,c]) x[r,C+c].
__global__ void gated_kernel(__nv_bfloat16* y, const __nv_bfloat16* x, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  const __nv_bfloat16* from = x + i / C * 2 * C + i % C;
  float g = __bfloat162float(from[0]), v = __bfloat162float(from[C]);
  y[i] = __float2bfloat16(g / (1.0f + expf(-g)) * v);
}

void gated_unit(__nv_bfloat16* y, const __nv_bfloat16* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  gated_kernel<<<(unsigned)(((size_t)R * C + 255) / 256), 256, 0, stream>>>(y, x, R, C);
}
