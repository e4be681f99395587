#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// res += x, out = res / rms(res) * w by rows; the sum is rounded to bf16 before it is normalized.
__global__ void add_rmsnorm_kernel(bf16* out, bf16* res, const bf16* x, const bf16* w, float eps, int C) {
  __shared__ float part[128];
  size_t base = (size_t)blockIdx.x * C;
  float s = 0.0f;
  for (int c = threadIdx.x; c < C; c += 128) {
    bf16 sum = __float2bfloat16(__bfloat162float(res[base + c]) + __bfloat162float(x[base + c]));
    res[base + c] = sum;
    float v = __bfloat162float(sum);
    s += v * v;
  }
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  float inv = rsqrtf(part[0] / C + eps);
  for (int c = threadIdx.x; c < C; c += 128)
    out[base + c] = __float2bfloat16(__bfloat162float(res[base + c]) * inv * __bfloat162float(w[c]));
}

void add_rmsnorm_bf16(bf16* out, bf16* res, const bf16* x, const bf16* w, float eps, int N, int C, cudaStream_t stream) {
  add_rmsnorm_kernel<<<N, 128, 0, stream>>>(out, res, x, w, eps, C);
}
