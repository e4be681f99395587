// entry: k
// buffer: x f32 64
// scalar: v f32 4
// kernel-launch: 1 64
// refused: parameter 2 of k is a structure by value (float4 v) @ 7
#include <cuda_runtime.h>
__global__ void k(float* x, float4 v) { x[threadIdx.x] = v.x + v.w; }
