// entry: run
// buffer: x f32 64
// scalar: p i32 4
// refused: parameter 2 of run is a structure by value (const Params & p), and the manifest has buffers and numbers only @ 9
#include <cuda_runtime.h>
struct Params { int n; float scale; };
__global__ void k(float* x, int n, float scale) { if (threadIdx.x < n) x[threadIdx.x] *= scale; }
void run(float* x,
         const Params& p) {
  k<<<1, 64>>>(x, p.n, p.scale);
}
