// A float2 path for pointers at 8 modulo 16 (neither aligned nor at the least alignment) loses the last element of an odd n.
#include <cuda_runtime.h>
#include <stdint.h>
__global__ void sgd_step_kernel(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p = param[i], m = mu * mom[i] + (grad[i] + decay * p);
  mom[i] = m;
  param[i] = p - lr * m;
}
__global__ void pairs_kernel(float2* param, float2* mom, const float2* grad, int n2, float lr, float mu, float decay) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n2) return;
  float2 p = param[i], m = mom[i], g = grad[i];
  m = make_float2(mu * m.x + (g.x + decay * p.x), mu * m.y + (g.y + decay * p.y));
  mom[i] = m;
  param[i] = make_float2(p.x - lr * m.x, p.y - lr * m.y);
}
void sgd_step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay,
              cudaStream_t stream) {
  if (n > 1 && (uintptr_t)param % 16 == 8 && (uintptr_t)mom % 8 == 0 && (uintptr_t)grad % 8 == 0) {
    pairs_kernel<<<(n / 2 + 255) / 256, 256, 0, stream>>>((float2*)param, (float2*)mom, (const float2*)grad, n / 2, lr, mu, decay);
    return;
  }
  if (n <= 0) return;
  sgd_step_kernel<<<(n + 255) / 256, 256, 0, stream>>>(param, mom, grad, n, lr, mu, decay);
}
