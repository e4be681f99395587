#include <cuda_runtime.h>


__device__ void sgd_step(float& p, float& m, float g, float lr, float momentum, float decay) {
  float d = g + decay * p;
  m = momentum * m + d;
  p -= lr * m;
}

__global__ void sgd_kernel(float* p, float* m, const float* g, int begin, int n, float lr, float momentum, float decay) {
  int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sgd_step(p[i], m[i], g[i], lr, momentum, decay);
}

// Four parameters per thread. Most rows of an embedding have no gradient in a step; parameters and momentum of four zeros are
// neither loaded nor stored.
__global__ void sgd_fours(float4* p, float4* m, const float4* g, int fours, float lr, float momentum, float decay) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= fours) return;
  float4 gv = g[i];
  if (gv.x == 0.0f && gv.y == 0.0f && gv.z == 0.0f && gv.w == 0.0f) return;
  float4 pv = p[i], mv = m[i];
  sgd_step(pv.x, mv.x, gv.x, lr, momentum, decay);
  sgd_step(pv.y, mv.y, gv.y, lr, momentum, decay);
  sgd_step(pv.z, mv.z, gv.z, lr, momentum, decay);
  sgd_step(pv.w, mv.w, gv.w, lr, momentum, decay);
  p[i] = pv;
  m[i] = mv;
}

// m = momentum * m + g + decay * p; p -= lr * m
void sgd_momentum(float* p, float* m, const float* g, int n, float lr, float momentum, float decay,
                  cudaStream_t stream) {
  if (n <= 0) return;
  int fours = ((size_t)p | (size_t)m | (size_t)g) % 16 == 0 ? n / 4 : 0, rest = n - fours * 4;
  if (fours > 0)
    sgd_fours<<<(fours + 255) / 256, 256, 0, stream>>>((float4*)p, (float4*)m, (const float4*)g, fours, lr, momentum,
                                                      decay);
  if (rest > 0) sgd_kernel<<<(rest + 255) / 256, 256, 0, stream>>>(p, m, g, fours * 4, n, lr, momentum, decay);
}
