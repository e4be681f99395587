// entry: run
// buffer: x f32 64
// scalar: n i32 63
// refused: the launcher threw: n must be a multiple of 64 @ 7
#include <stdexcept>
__global__ void k(float* x) { x[threadIdx.x] += 1; }
void run(float* x, int n) {
  if (n % 64) throw std::invalid_argument("n must be a multiple of 64");
  k<<<1, 64>>>(x);
}
