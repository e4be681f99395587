// entry: noise
// buffer: out f32 256
// expect: setup: launch setup(workspace 0) 1x1x1 256x1x1
// expect: launch draw(out, workspace 0) 1x1x1 256x1x1
#include <curand_kernel.h>
__global__ void setup(curandState* states) { curand_init(1234, threadIdx.x, 0, states + threadIdx.x); }
__global__ void draw(float* out, curandState* states) { out[threadIdx.x] = curand_uniform(states + threadIdx.x); }
void noise(float* out) {
  static curandState* states = nullptr;
  if (states == nullptr) {
    cudaMalloc(&states, 256 * sizeof(curandState));
    setup<<<1, 256>>>(states);
  }
  draw<<<1, 256>>>(out, states);
}
