// Two halves on two streams, forked from and joined to the caller's stream with events.
#include <cuda_runtime.h>
__global__ void step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p = param[i], m = mu * mom[i] + (grad[i] + decay * p);
  mom[i] = m;
  param[i] = p - lr * m;
}
void sgd_step(float* param, float* mom, const float* grad, int n, float lr, float mu, float decay,
              cudaStream_t stream) {
  if (n <= 0) return;
  int h = n / 2;
  if (h < 2048) {
    step<<<(n + 255) / 256, 256, 0, stream>>>(param, mom, grad, n, lr, mu, decay);
    return;
  }
  cudaStream_t side;
  cudaEvent_t fork, join;
  cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork, 0);
  step<<<(h + 255) / 256, 256, 0, side>>>(param, mom, grad, h, lr, mu, decay);
  step<<<(n - h + 255) / 256, 256, 0, stream>>>(param + h, mom + h, grad + h, n - h, lr, mu, decay);
  cudaEventRecord(join, side);
  cudaStreamWaitEvent(stream, join, 0);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  cudaStreamDestroy(side);
}
