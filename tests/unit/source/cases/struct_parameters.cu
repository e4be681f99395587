// entry: run
// buffer: x f32 64
// buffer: y f32 64
// expect: launch k({7800000000000000[x][x+128][y]00000040001000004000000000000000}) 1x1x1 32x1x1
#include <cuda_runtime.h>
template <int N> struct Tensors { char tag; const float* in[N]; float* out; long long sizes[N]; };
__global__ void k(Tensors<2> t) { t.out[threadIdx.x] = t.in[0][threadIdx.x] + t.in[1][threadIdx.x]; }
void run(const float* x, float* y) {
  Tensors<2> t;
  t.tag = 'x';
  t.in[0] = x;
  t.in[1] = x + 32;
  t.out = y;
  t.sizes[0] = 0x100040000000LL;
  t.sizes[1] = 64;
  k<<<1, 32>>>(t);
}
