// Its own stream does not wait for what the caller has enqueued before.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i] + 1.0f;
}

cudaError_t scale_on_stream(float* out, const float* x, int n, cudaStream_t stream) {
  static cudaStream_t own;
  static cudaEvent_t done;
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
  scale_kernel<<<(n + 255) / 256, 256, 0, own>>>(out, x, n);
  cudaEventRecord(done, own);
  cudaStreamWaitEvent(stream, done, 0);
  return cudaGetLastError();
}
