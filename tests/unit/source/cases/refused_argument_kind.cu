// entry: run
// scalar: n i32 4
// buffer: x f32 4
// refused: 'n' is a scalar, but parameter 'x' of run is a pointer @ 7
#include <cuda_runtime.h>
__global__ void k(float* x, int n) { if (n) *x = 1; }
void run(float* x, int n) { k<<<1, 1>>>(x, n); }
