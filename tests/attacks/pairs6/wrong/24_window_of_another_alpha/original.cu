#include <cuda_runtime.h>


// y[f,t] = x[f,t] * w[t] with the generalized Hamming window w[t] = alpha - (1 - alpha) cos(2 pi t / (T - 1)); of one sample 1.
__global__ void window_kernel(float* y, const float* x, int F, int T, float alpha) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)F * T) return;
  int t = i % T;
  float w = T > 1 ? alpha - (1.0f - alpha) * cospif(2.0f * t / (T - 1)) : 1.0f;
  y[i] = x[i] * w;
}

void apply_window(float* y, const float* x, int F, int T, float alpha, cudaStream_t stream) {
  if (F <= 0 || T <= 0) return;
  window_kernel<<<(unsigned)(((size_t)F * T + 255) / 256), 256, 0, stream>>>(y, x, F, T, alpha);
}
