// entry: run
// buffer: x f32 64
// expect: launch k<Pair<int, Pair<float, int> >>(x, 64) 1x1x1 64x1x1
#include <cuda_runtime.h>
template <typename A, typename B> struct Pair {};
template <typename P>
__global__ void
__launch_bounds__(64, 2)
k(float* __restrict__ x,   // comment, with (parentheses
  const int n)
{
  if (threadIdx.x < n) x[threadIdx.x] = 1;
}
void run(float* x) {
  k<Pair<int, Pair<float, int>>>
      <<<dim3(1 << 0),  /* grid, */
         64 >> 0,
         (1 == 2) ? 4 : 0>>>(
          x,
          64);
}
