// entry: run
// buffer: a f32 64
// buffer: b f32 64
// expect: launch k(a) 1x1x1 64x1x1 stream 1
// expect: record event 0 stream 1
// expect: wait event 0 stream 2
// expect: launch k(b) 1x1x1 64x1x1 stream 2
// expect: record event 1
// expect: launch k(a) 1x1x1 64x1x1 stream 1
#include <cuda_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] += 1; }
void run(float* a, float* b) {
  cudaStream_t s1, s2;
  cudaEvent_t done;
  cudaStreamCreate(&s1);
  cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  k<<<1, 64, 0, s1>>>(a);
  cudaEventRecord(done, s1);
  cudaStreamWaitEvent(s2, done, 0);
  k<<<1, 64, 0, s2>>>(b);
  cudaStreamSynchronize(s2);  // the host's wait orders the streams too
  k<<<1, 64, 0, s1>>>(a);
  cudaStreamSynchronize(s1);
  cudaEventDestroy(done);
  cudaStreamDestroy(s1);
  cudaStreamDestroy(s2);
}
