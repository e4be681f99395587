// entry: run
// buffer: x f32 64
// expect: launch map<op::Mode::kExact, op::Gelu<float>>(x, 1056964608) 1x1x1 64x1x1
#include <cuda_runtime.h>
namespace op {
namespace {
template <typename T> struct Gelu { T alpha; __device__ T operator()(T x) const { return alpha * x; } };
enum class Mode : int { kFast, kExact };
}
using GeluF = Gelu<float>;
}
template <op::Mode M, typename F> __global__ void map(float* x, F f) { x[threadIdx.x] = M == op::Mode::kFast ? f(x[threadIdx.x]) : 0.f; }
void run(float* x) {
  map<op::Mode::kExact><<<1, 64>>>(x, op::GeluF{0.5f});
}
