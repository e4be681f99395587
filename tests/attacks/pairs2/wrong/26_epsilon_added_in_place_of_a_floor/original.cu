#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// out = x / max(|x|, eps) by rows, as torch.nn.functional.normalize.
__global__ void l2_normalize_kernel(bf16* out, const bf16* x, float eps, int C) {
  __shared__ float part[4];
  const bf16* row = x + (size_t)blockIdx.x * C;
  float s = 0.0f;
  for (int c = threadIdx.x; c < C; c += 128) {
    float v = __bfloat162float(row[c]);
    s += v * v;
  }
  for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  float norm = sqrtf(part[0] + part[1] + part[2] + part[3]);
  float f = 1.0f / fmaxf(norm, eps);
  for (int c = threadIdx.x; c < C; c += 128) out[(size_t)blockIdx.x * C + c] = __float2bfloat16(__bfloat162float(row[c]) * f);
}

void l2_normalize_bf16(bf16* out, const bf16* x, float eps, int R, int C, cudaStream_t stream) {
  l2_normalize_kernel<<<R, 128, 0, stream>>>(out, x, eps, C);
}
