#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// One step of Adam for n parameters with half gradients; new values go to separate buffers.
__global__ void adam_kernel(float* p_out, float* m_out, float* v_out, const float* p, const float* m, const float* v,
                            const __half* g, int n, float lr, float beta1, float beta2, float eps, float c1, float c2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float grad = __half2float(g[i]);
  float mi = beta1 * m[i] + (1.0f - beta1) * grad;
  float vi = beta2 * v[i] + (1.0f - beta2) * grad * grad;
  m_out[i] = mi;
  v_out[i] = vi;
  p_out[i] = p[i] - lr * (mi / c1) / (sqrtf(vi / c2) + eps);
}

void adam_step(float* p_out, float* m_out, float* v_out, const float* p, const float* m, const float* v, const __half* g,
               int n, float lr, float beta1, float beta2, float eps, float c1, float c2) {
  if (n > 0) {
    adam_kernel<<<(n + 255) / 256, 256>>>(p_out, m_out, v_out, p, m, v, g, n, lr, beta1, beta2, eps, c1, c2);
  }
}
