// entry: run
// buffer: xs i64 64
// refused: parameter 1 of run is a pointer to pointers (float ** xs) @ 6
#include <cuda_runtime.h>
__global__ void k(float** xs) { xs[blockIdx.x][threadIdx.x] = 0; }
void run(float** xs) { k<<<8, 64>>>(xs); }
