#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// ELU: x for x > 0, alpha * (exp(x) - 1) otherwise. The exponential is 2^whole * 2^fraction: the first is put together from
// bits, the second is a polynomial, exact to the last bits of a float.
__device__ inline float exp_poly(float x) {
  float t = x * 1.44269504f;
  float whole = rintf(t);
  float f = fmaf(whole, -0.693145752f, x);
  f = fmaf(whole, -1.42860677e-6f, f);
  float p = 1.0f / 720.0f;
  p = fmaf(p, f, 1.0f / 120.0f);
  p = fmaf(p, f, 1.0f / 24.0f);
  p = fmaf(p, f, 1.0f / 6.0f);
  p = fmaf(p, f, 0.5f);
  p = fmaf(p, f, 1.0f);
  p = fmaf(p, f, 1.0f);
  return p * __int_as_float(((int)whole + 127) << 23);
}

__global__ void elu_kernel(float* out, const float* x, float alpha, int n) {
  int stride = gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    float v = x[i];
    out[i] = v > 0.0f ? v : alpha * (exp_poly(v) - 1.0f);
  }
}

void elu(float* out, const float* x, float alpha, int n) {
  int blocks = (n + 255) / 256;
  if (n > 0) elu_kernel<<<blocks < 1056 ? blocks : 1056, 256>>>(out, x, alpha, n);
}
