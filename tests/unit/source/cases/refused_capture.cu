// entry: run
// buffer: x f32 64
// refused: CUDA graphs (cudaStreamBeginCapture) @ 7
#include <cuda_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] += 1; }
void run(float* x, cudaStream_t stream) {
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  k<<<1, 64, 0, stream>>>(x);
}
