// entry: run
// buffer: x i32 64
// refused: decides by a value that it copies back @ 9
#include <cuda_runtime.h>
__global__ void k(int* x) { x[threadIdx.x] -= 1; }
void run(int* x) {
  for (int left = 1; left;) {
    k<<<1, 64>>>(x);
    cudaMemcpy(&left, x, sizeof(int), cudaMemcpyDeviceToHost);
  }
}
