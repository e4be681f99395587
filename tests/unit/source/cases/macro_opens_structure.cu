// entry: run
// buffer: x f32 64
// expect: launch k(x, 25769803781L) 1x1x1 64x1x1
#include <cuda_runtime.h>
#define STRUCTURE(name) struct name { int first; __device__ int twice() const { return 2 * first; }
#define END_STRUCTURE };
#define FUNCTION(name) __device__ __forceinline__ int name(int n) { n = __mul24(n, 3);
#define END_FUNCTION return n; }
STRUCTURE(Pair)
  int second;
END_STRUCTURE
FUNCTION(thrice)
  n += __popc(0);
END_FUNCTION
__global__ void k(float* x, Pair p) { x[threadIdx.x] = thrice(p.twice()) + p.second; }
void run(float* x) {
  static_assert(sizeof(Pair) == 8);
  k<<<1, 64>>>(x, {5, 6});
}
