#include <cuda_bf16.h>
#include <cuda_runtime.h>


__global__ void adamw_kernel(float* p, float* m, float* v, __nv_bfloat16* p16, const __nv_bfloat16* g, int n, float lr,
                             float beta1, float beta2, float eps, float decay, float correction1, float correction2) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)n) return;
  float gradient = __bfloat162float(g[i]);
  m[i] = beta1 * m[i] + (1.0f - beta1) * gradient;
  v[i] = beta2 * v[i] + (1.0f - beta2) * gradient * gradient;
  p[i] -= lr * (m[i] / correction1 / (sqrtf(v[i] / correction2) + eps) + decay * p[i]);
  p16[i] = __float2bfloat16(p[i]);
}

// A step of AdamW on p, with a copy of p in bf16; correction1 = 1 - beta1^t, correction2 = 1 - beta2^t.
void adamw_step(float* p, float* m, float* v, __nv_bfloat16* p16, const __nv_bfloat16* g, int n, float lr, float beta1,
                float beta2, float eps, float decay, float correction1, float correction2, cudaStream_t stream) {
  if (n <= 0) return;
  adamw_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(p, m, v, p16, g, n, lr, beta1, beta2, eps, decay,
                                                                       correction1, correction2);
}
