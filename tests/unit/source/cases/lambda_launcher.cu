// entry: run
// buffer: x f32 64
// scalar: bits i32 3
// expect: launch k<true, true>(x) 1x1x1 64x1x1
#include <cuda_runtime.h>
#include <functional>
template <bool A, bool B> __global__ void k(float* x) { x[threadIdx.x] = A ? 1.f : (B ? 2.f : 3.f); }
template <typename F> void dispatch(bool value, F&& f) {
  if (value) f(std::true_type{}); else f(std::false_type{});
}
void run(float* x, int bits) {
  dispatch(bits & 1, [&](auto a) {
    dispatch(bits & 2, [&](auto b) { k<decltype(a)::value, decltype(b)::value><<<1, 64>>>(x); });
  });
}
