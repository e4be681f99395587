// Returns before its own stream has ended, and nobody waits for that.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + 1.0f;
}

cudaError_t scale_on_stream(float* out, const float* x, int n, cudaStream_t stream) {
  static cudaStream_t own;
  static cudaEvent_t begun;
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
  }
  cudaEventRecord(begun, stream);
  cudaStreamWaitEvent(own, begun, 0);
  scale_kernel<<<(n + 255) / 256, 256, 0, own>>>(out, x, n);
  return cudaGetLastError();
}
