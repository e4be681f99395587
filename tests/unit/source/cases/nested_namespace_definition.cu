// entry: launch
// buffer: x f32 64
// expect: launch a::b::v1::k(x) 1x1x1 64x1x1
#include <cuda_runtime.h>
namespace a::b { inline namespace v1 {
__global__ void k(float* x) { x[threadIdx.x] = 1.0f; }
} }
using namespace a::b;
static void launch(float* x) { k<<<1, 64>>>(x); }
