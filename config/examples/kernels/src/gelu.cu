// GELU activation, tanh approximation, for float and half.
#include "../include/common.cuh"

#define GELU_SCALING_FACTOR 0.7978845608028654f  // sqrt(2 / pi)

template <typename T>
__global__ void gelu_kernel(T* out, const T* inp, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = to_float(inp[i]);
    float cube = 0.044715f * x * x * x;
    out[i] = from_float<T>(0.5f * x * (1.0f + tanhf(GELU_SCALING_FACTOR * (x + cube))));
  }
}

extern "C" void gelu_forward(float* out, const float* inp, int n) {
  const int block_size = 128;
  gelu_kernel<float><<<ceil_div(n, block_size), block_size>>>(out, inp, n);
  LAUNCH_CHECK();
}

extern "C" void gelu_forward_half(__half* out, const __half* inp, int n) {
  const int block_size = 128;
  gelu_kernel<__half><<<ceil_div(n, block_size), block_size>>>(out, inp, n);
  LAUNCH_CHECK();
}
