// entry: run
// buffer: x f32 64
// refused: the launcher changes variables of its file in every call, or what they point to @ 7
#include <cuda_runtime.h>
#include <iostream>
__global__ void k(float* x) { x[threadIdx.x] += 1; }
void run(float* x) {
  std::cout.width(std::cout.width() + 1);
  if (std::cout.width() <= 4) k<<<1, 64>>>(x);
}
