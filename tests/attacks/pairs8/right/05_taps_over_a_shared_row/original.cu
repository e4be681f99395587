#include <cuda_runtime.h>

#include <cstdint>

// y[c] = sum of w[t] x[c - t], with nothing before the row's first element.
__global__ void fir_kernel(float* y, const float* x, const float* w, int R, int C, int T) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (long long)R * C) return;
  long long c = i % C;
  float sum = 0;
  for (int t = 0; t < T && t <= c; ++t) sum += w[t] * x[i - t];
  y[i] = sum;
}

void fir_rows(float* y, const float* x, const float* w, int R, int C, int T, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  fir_kernel<<<(unsigned)(((long long)R * C + 255) / 256), 256, 0, stream>>>(y, x, w, R, C, T);
}
