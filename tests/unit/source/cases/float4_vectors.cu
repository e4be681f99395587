// entry: copy
// buffer: out f32 4096
// buffer: in f32 4096
// scalar: n i32 4096
// expect: launch k(out, in, {0000803f000000400000404000008040}, 1024) 4x1x1 256x1x1
#include <cuda_runtime.h>
__device__ inline float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__global__ void k(float4* out, const float4* in, float4 bias, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __ldg(in + i) + bias;
}
void copy(float* out, const float* in, int n) {
  k<<<n / 4 / 256, 256>>>((float4*)out, (const float4*)in, make_float4(1, 2, 3, 4), n / 4);
}
