// entry: run
// buffer: x f32 64
// scalar: n i32 64
// refused: parameter 2 of run is a reference that may be written to (int & n) @ 7
#include <cuda_runtime.h>
__global__ void k(float* x) { x[threadIdx.x] = 0; }
void run(float* x, int& n) { k<<<1, n>>>(x); n = 0; }
