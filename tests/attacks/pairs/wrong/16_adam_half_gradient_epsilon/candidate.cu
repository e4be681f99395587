#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// One step of Adam for n parameters with half gradients; new values go to separate buffers. The divisions by the bias
// corrections are taken out of the loop, and root and reciprocal are one operation.
__global__ void adam_kernel(float* p_out, float* m_out, float* v_out, const float* p, const float* m, const float* v,
                            const __half* g, int n, float step, float beta1, float beta2, float eps2, float inv_c2) {
  int stride = gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    float grad = __half2float(g[i]);
    float mi = fmaf(beta1, m[i], (1.0f - beta1) * grad);
    float vi = fmaf(beta2, v[i], (1.0f - beta2) * grad * grad);
    float pi = p[i];
    m_out[i] = mi;
    v_out[i] = vi;
    p_out[i] = pi - step * mi * rsqrtf(fmaf(vi, inv_c2, eps2));
  }
}

void adam_step(float* p_out, float* m_out, float* v_out, const float* p, const float* m, const float* v, const __half* g,
               int n, float lr, float beta1, float beta2, float eps, float c1, float c2) {
  if (n <= 0) return;
  int blocks = (n + 255) / 256;
  adam_kernel<<<blocks < 1056 ? blocks : 1056, 256>>>(p_out, m_out, v_out, p, m, v, g, n, lr / c1, beta1, beta2, eps * eps,
                                                      1.0f / c2);
}
