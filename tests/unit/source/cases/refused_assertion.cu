// entry: run
// buffer: x f32 64
// scalar: n i32 -1
// refused: n >= 0 @ 18
#include <cassert>
#include <cstdio>

/* Lines that only the device has
   do not count in what the host compiler sees. */
__global__ void k(float* x) {

  x[threadIdx.x] = 0;

}

void run(float* x, int n) {

  assert(n >= 0);
  k<<<1, 64>>>(x);
}
