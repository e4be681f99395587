// entry: run
// buffer: x f32 4
// scalar: n i32 4
// scalar: m i32 4
// refused: run takes 2 arguments, the manifest gives 3 @ 8
#include <cuda_runtime.h>
__global__ void k(float* x, int n) { if (n) *x = 1; }
void run(float* x, int n) { k<<<1, 1>>>(x, n); }
