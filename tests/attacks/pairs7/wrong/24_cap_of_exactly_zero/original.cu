#include <cuda_runtime.h>



// y = scale cap tanh(x / cap); a cap of 0 or below says that there is none.
__global__ void cap_kernel(float* y, const float* x, int n, float cap, float scale) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (!(cap <= 0.0f)) v = cap * tanhf(v / cap);
  y[i] = scale * v;
}

void cap_logits(float* y, const float* x, int n, float cap, float scale, cudaStream_t stream) {
  if (n <= 0) return;
  cap_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(y, x, n, cap, scale);
}
