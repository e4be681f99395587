// float4 for the aligned body and scalars for the tail, in one kernel.
#include <cuda_runtime.h>
#include <stdint.h>
__device__ __forceinline__ void one(float& p, float& m, float g, float lr, float mu, float decay) {
  m = mu * m + (g + decay * p);
  p = p - lr * m;
}
__global__ void step(float* param, float* mom, const float* grad, int n, int n4, float lr, float mu, float decay) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n4) {
    float4 p = reinterpret_cast<float4*>(param)[t], m = reinterpret_cast<float4*>(mom)[t];
    float4 g = reinterpret_cast<const float4*>(grad)[t];
    one(p.x, m.x, g.x, lr, mu, decay);
    one(p.y, m.y, g.y, lr, mu, decay);
    one(p.z, m.z, g.z, lr, mu, decay);
    one(p.w, m.w, g.w, lr, mu, decay);
    reinterpret_cast<float4*>(mom)[t] = m;
    reinterpret_cast<float4*>(param)[t] = p;
  } else if (t - n4 < n - 4 * n4) {
    int i = 4 * n4 + (t - n4);
    one(param[i], mom[i], grad[i], lr, mu, decay);
  }
}
void sgd_step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay,
              cudaStream_t stream) {
  if (n <= 0) return;
  uintptr_t bits = (uintptr_t)param | (uintptr_t)mom | (uintptr_t)grad;
  int n4 = bits % 16 == 0 ? n / 4 : 0, work = n4 + (n - 4 * n4);
  step<<<(work - 1) / 256 + 1, 256, 0, stream>>>(param, mom, grad, n, n4, lr, mu, decay);
}
