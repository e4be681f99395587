// entry: app::kernels::run
// buffer: x f32 64
// scalar: n i32 64
// expect: launch app::kernels::body<32>(x, 64) 2x1x1 32x1x1
#include <cuda_runtime.h>
namespace app {
namespace kernels {
namespace {
constexpr int kThreads = 32;
__device__ float twice(float x) { return x + x; }
template <int N>
__global__ void body(float* x, int n) {
  if (threadIdx.x < n) x[blockIdx.x * N + threadIdx.x] = twice(x[blockIdx.x * N + threadIdx.x]);
}
}  // namespace
namespace detail { inline int blocks(int n) { return n / kThreads; } }
void run(float* x, int n) { body<kThreads><<<detail::blocks(n), kThreads>>>(x, n); }
}  // namespace kernels
}  // namespace app
