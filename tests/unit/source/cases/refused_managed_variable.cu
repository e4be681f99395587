// entry: run
// buffer: x f32 64
// refused: the launcher uses the __managed__ variable limit @ 5
#include <cuda_runtime.h>
__managed__ int limit;
__global__ void k(float* x) { if (threadIdx.x < limit) x[threadIdx.x] = 0; }
void run(float* x) {
  limit = 32;
  k<<<1, 64>>>(x);
}
