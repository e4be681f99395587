#include <cuda_runtime.h>



// Divisions of 32 bits, which take a tenth of the time, for tracks of less than a million samples.
template <typename Index>
__global__ void __launch_bounds__(256) resample_kernel(float* y, const float* x, Index O, Index I) {
  Index o = (Index)blockIdx.x * 256 + threadIdx.x;
  if (o >= O) return;
  Index at = o * I, i = at / O;
  float part = (float)(at - i * O) / (float)O, next = x[i + 1 < I ? i + 1 : i];
  y[o] = x[i] + part * (next - x[i]);
}

void resample(float* y, const float* x, int O, int I, cudaStream_t stream) {
  if (O <= 0 || I <= 0) return;
  unsigned blocks = (unsigned)(((size_t)O + 255) / 256);
  if (O < (1 << 20) && I < (1 << 20)) resample_kernel<unsigned><<<blocks, 256, 0, stream>>>(y, x, (unsigned)O, (unsigned)I);
  else resample_kernel<unsigned long long><<<blocks, 256, 0, stream>>>(y, x, O, I);
}
