// Each thread keeps the bias of one column in a register and walks down the rows.
#include <cuda_runtime.h>
#include <math.h>
namespace {
constexpr int kThreads = 128, kRowsPerBlock = 8;
__global__ void strips(float* out, const float* inp, const float* bias, int rows, int cols) {
  int c = blockIdx.x * kThreads + threadIdx.x;
  if (c >= cols) return;
  float b = __ldg(bias + c);
  for (int r0 = blockIdx.y * kRowsPerBlock; r0 < rows; r0 += gridDim.y * kRowsPerBlock) {
#pragma unroll
    for (int k = 0; k < kRowsPerBlock; ++k) {
      if (r0 + k >= rows) break;
      size_t i = (size_t)(r0 + k) * cols + c;
      float x = inp[i] + b;
      out[i] = 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    }
  }
}
}  // namespace
void bias_gelu(float* out, const float* inp, const float* bias, int rows, int cols, cudaStream_t stream) {
  if (rows <= 0 || cols <= 0) return;
  unsigned gy = (unsigned)((rows - 1) / kRowsPerBlock + 1);
  strips<<<dim3((cols - 1) / kThreads + 1, gy < 16384 ? gy : 16384), kThreads, 0, stream>>>(out, inp, bias, rows, cols);
}
