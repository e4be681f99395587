#include <cuda_bf16.h>
#include <cuda_runtime.h>


// One step of AdamW in place on the float master weights, and a bf16 copy for the next forward pass. step is 1, 2, ...
__global__ void adamw_kernel(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, float lr, float b1, float b2,
                             float eps, float decay, int step, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float c1 = (float)(1.0 - pow((double)b1, (double)step)), c2 = (float)(1.0 - pow((double)b2, (double)step));
  float w = p[i] * (1.0f - lr * decay);
  float mm = b1 * m[i] + (1.0f - b1) * g[i];
  float vv = b2 * v[i] + (1.0f - b2) * g[i] * g[i];
  w -= lr * (mm / c1) / (sqrtf(vv / c2) + eps);
  m[i] = mm;
  v[i] = vv;
  p[i] = w;
  copy[i] = __float2bfloat16(w);
}

void adamw(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, float lr, float b1, float b2, float eps,
           float decay, int step, int n, cudaStream_t stream) {
  adamw_kernel<<<(n + 255) / 256, 256, 0, stream>>>(p, m, v, copy, g, lr, b1, b2, eps, decay, step, n);
}
