// Halves on two streams that begin after the caller's stream and that it waits for: the two are unordered between each
// other. A third kernel follows both on one of them.
#include <cuda_runtime.h>

__global__ void double_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * x[i];
}
__global__ void increment_kernel(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += 1.0f;
}

void scale(float* out, const float* x, int n) {
  static cudaStream_t streams[2];
  static cudaEvent_t begun, done[2];
  if (streams[0] == nullptr) {
    for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
    for (cudaEvent_t& event : done) cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  }
  const int half = n / 2;
  const int begin[2] = {0, half}, size[2] = {half, n - half};
  cudaEventRecord(begun, 0);
  for (int i = 0; i < 2; i++) {
    cudaStreamWaitEvent(streams[i], begun, 0);
    if (size[i] > 0) double_kernel<<<(size[i] + 255) / 256, 256, 0, streams[i]>>>(out + begin[i], x + begin[i], size[i]);
    cudaEventRecord(done[i], streams[i]);
  }
  cudaStreamWaitEvent(streams[1], done[0], 0);
  increment_kernel<<<(n + 255) / 256, 256, 0, streams[1]>>>(out, n);
  cudaEventRecord(done[1], streams[1]);
  cudaStreamWaitEvent(0, done[1], 0);
}
