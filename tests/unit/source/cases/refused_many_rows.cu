// entry: run
// buffer: out f32 65536
// refused: a pitched operation of 2048 rows with gaps between them @ 7
#include <cuda_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] = 0; }
void run(float* out) {
  cudaMemset2D(out, 32, 0, 16, 2048);
  k<<<1, 32>>>(out);
}
