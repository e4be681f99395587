#include <cuda_runtime.h>



// One division, of the launcher; its sign says whether there is a cap.
__global__ void __launch_bounds__(256) cap_kernel(float* y, const float* x, int n, float cap, float inverse, float scale) {
  size_t first = (size_t)blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    size_t i = first + k * 256;
    if (i >= (size_t)n) return;
    float v = x[i];
    y[i] = scale * (inverse < 0.0f ? v : cap * tanhf(v * inverse));
  }
}

void cap_logits(float* y, const float* x, int n, float cap, float scale, cudaStream_t stream) {
  if (n <= 0) return;
  cap_kernel<<<(unsigned)(((size_t)n + 1023) / 1024), 256, 0, stream>>>(y, x, n, cap, 1.0f / cap, scale);
}
