#include <cuda_bf16.h>
#include <cuda_runtime.h>


// top[r] = the largest |x[r,c]|, y[r] = x[r] / top[r] (0 where that is 0). Embedding tables with billions of elements come through here.
__global__ void tops_kernel(float* top, const __nv_bfloat16* x, int C) {
  __shared__ float part[256];
  const __nv_bfloat16* row = x + (size_t)blockIdx.x * C;
  float m = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) m = fmaxf(m, fabsf(__bfloat162float(row[c])));
  part[threadIdx.x] = m;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + k]);
    __syncthreads();
  }
  if (threadIdx.x == 0) top[blockIdx.x] = part[0];
}

__global__ void scale_kernel(__nv_bfloat16* y, const __nv_bfloat16* x, const float* top, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  float m = top[i / C];
  y[i] = __float2bfloat16(m > 0.0f ? __bfloat162float(x[i]) / m : 0.0f);
}

void normalize_rows(__nv_bfloat16* y, float* top, const __nv_bfloat16* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  tops_kernel<<<R, 256, 0, stream>>>(top, x, C);
  scale_kernel<<<(unsigned)(((size_t)R * C + 255) / 256), 256, 0, stream>>>(y, x, top, R, C);
}
