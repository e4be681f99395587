// entry: main
// refused: main is the program: name the launcher that it calls @ 5
#include <cuda_runtime.h>
__global__ void k(float* x) { *x = 1; }
int main() { float* x; cudaMalloc(&x, 4); k<<<1, 1>>>(x); return 0; }
