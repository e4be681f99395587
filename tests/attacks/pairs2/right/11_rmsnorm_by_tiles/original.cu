#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// out = x / rms(x) * w by rows; inv is workspace of N floats.
__global__ void inv_rms(float* inv, const bf16* x, float eps, int C) {
  __shared__ float part[256];
  const bf16* row = x + (size_t)blockIdx.x * C;
  float s = 0.0f;
  for (int c = threadIdx.x; c < C; c += 256) {
    float v = __bfloat162float(row[c]);
    s += v * v;
  }
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) inv[blockIdx.x] = 1.0f / sqrtf(part[0] / C + eps);
}

__global__ void apply(bf16* out, const bf16* x, const bf16* w, const float* inv, int C) {
  size_t base = (size_t)blockIdx.x * C;
  float r = inv[blockIdx.x];
  for (int c = threadIdx.x; c < C; c += blockDim.x)
    out[base + c] = __float2bfloat16(__bfloat162float(x[base + c]) * r * __bfloat162float(w[c]));
}

void rmsnorm_bf16(bf16* out, const bf16* x, const bf16* w, float* inv, float eps, int N, int C, cudaStream_t stream) {
  inv_rms<<<N, 256, 0, stream>>>(inv, x, eps, C);
  apply<<<N, 256, 0, stream>>>(out, x, w, inv, C);
}
