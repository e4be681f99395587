// In-place update: momentum SGD with weight decay on parameters and momenta.
#include <cuda_runtime.h>

template <typename T>
__global__ void sgd_step_kernel(T* param, T* mom, const T* grad, int n, T lr, T mu, T decay) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    T g = grad[i] + decay * param[i];
    T m = mu * mom[i] + g;
    mom[i] = m;
    param[i] = param[i] - lr * m;
  }
}

void sgd_step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay,
              cudaStream_t stream) {
  if (n <= 0) return;
  sgd_step_kernel<float><<<(n + 127) / 128, 128, 0, stream>>>(param, mom, grad, n, lr, mu, decay);
}
