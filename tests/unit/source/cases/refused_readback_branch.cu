// entry: run
// buffer: x i32 64
// refused: decides by a value that it copies back @ 9
#include <cuda_runtime.h>
__global__ void k(int* x) { x[threadIdx.x] -= 1; }
void run(int* x) {
  int changed = 1;
  k<<<1, 64>>>(x);
  cudaMemcpy(&changed, x, sizeof(int), cudaMemcpyDeviceToHost);
  if (changed) k<<<1, 64>>>(x);
}
