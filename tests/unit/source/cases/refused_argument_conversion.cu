// entry: run
// buffer: x f32 64
// scalar: name i32 1
// refused: run cannot be called with the manifest's arguments: @ 8
#include <cuda_runtime.h>
#include <string>
__global__ void k(float* x) { x[threadIdx.x] = 1; }
void run(float* x, std::string_view name) { k<<<1, 64>>>(x); }
