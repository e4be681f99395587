// entry: run
// buffer: x f32 4
// refused: does not compile @ 6
#include <cuda_runtime.h>
__global__ void k(float* x) { *x = 1; }
void run(float* x) { undeclared_function(x); k<<<1, 1>>>(x); }
