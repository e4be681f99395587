#include <cuda_runtime.h>


// Gradients of mixed precision divided by the scale of the loss: out = g * inv_scale. Tiny gradients (subnormal ones, too) count.
__global__ void unscale_kernel(float* out, const float* g, float inv_scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v;
    asm("mul.ftz.f32 %0, %1, %2;" : "=f"(v) : "f"(g[i]), "f"(inv_scale));
    out[i] = v;
  }
}
