// Each thread writes its element and then recomputes its left neighbour's from inp for small magnitudes: with out == inp it reads an already updated value, and two threads write one element (a race).
#include <cuda_runtime.h>
#include <math.h>
__global__ void bias_gelu_kernel(float* out, const float* inp, const float* bias, int cols, long long n, int exact) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    float x = inp[i] + bias[i % cols];
    float r = exact ? 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)) : x / (1.0f + __expf(-1.702f * x));
    out[i] = r;
    if (i > 0 && i % 2 == 1) {
      float z = inp[i - 1] + bias[(i - 1) % cols];
      if (fabsf(z) < 1e-3f) out[i - 1] = 0.5f * z + 0.39894228f * z * z;
    }
  }
}
void bias_gelu(float* out, const float* inp, const float* bias, int rows, int cols, cudaStream_t stream) {
  long long n = (long long)rows * cols;
  if (n <= 0) return;
  bias_gelu_kernel<<<(unsigned)((n + 511) / 512), 256, 0, stream>>>(out, inp, bias, cols, n, 1);
}
