// Gradients below 1e-12 are taken for zero: the momentum of unscaled mixed-precision training never moves.
#include <cuda_runtime.h>
__global__ void sgd_step_kernel(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float g = grad[i], p = param[i];
  if (fabsf(g) < 1e-12f) g = 0.0f;
  float m = mu * mom[i] + (g + decay * p);
  mom[i] = m;
  param[i] = p - lr * m;
}
void sgd_step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay,
              cudaStream_t stream) {
  if (n <= 0) return;
  sgd_step_kernel<<<(n + 255) / 256, 256, 0, stream>>>(param, mom, grad, n, lr, mu, decay);
}
