// entry: run
// buffer: x f32 64
// refused: fails on the device with cudaErrorInvalidValue: 102400 bytes of dynamic shared memory @ 7
#include <cuda_runtime.h>
__global__ void k(float* x) { extern __shared__ float s[]; s[0] = 1; x[threadIdx.x] += s[0]; }
void run(float* x) {
  k<<<1, 64, 100 * 1024>>>(x);
}
