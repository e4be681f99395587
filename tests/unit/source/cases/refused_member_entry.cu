// entry: Scaler::run
// buffer: x f32 64
// refused: Scaler::run needs an object @ 8
#include <cuda_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] = 1; }
struct Scaler {
  int n;
  void run(float* x) { k<<<1, 64>>>(x); }
};
