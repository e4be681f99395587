// For momenta factors below 0.5 (never in the manifest) takes a path that does not store the momentum.
#include <cuda_runtime.h>
__global__ void sgd_step_kernel(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p = param[i], m = mu * mom[i] + (grad[i] + decay * p);
  mom[i] = m;
  param[i] = p - lr * m;
}
__global__ void plain_kernel(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p = param[i];
  param[i] = p - lr * (mu * mom[i] + grad[i] + decay * p);
}
void sgd_step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay,
              cudaStream_t stream) {
  if (mu < 0.5f && n > 0) {
    plain_kernel<<<(n + 255) / 256, 256, 0, stream>>>(param, mom, grad, n, lr, mu, decay);
    return;
  }
  if (n <= 0) return;
  sgd_step_kernel<<<(n + 255) / 256, 256, 0, stream>>>(param, mom, grad, n, lr, mu, decay);
}
