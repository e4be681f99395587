// Vectorizes if out alone is aligned; an inp or bias at another offset than out faults.
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
__device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }
__global__ void vec_kernel(float4* out, const float4* inp, const float4* bias, int cols4, long long n4) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  float4 v = inp[i], b = bias[i % cols4];
  out[i] = make_float4(gelu(v.x + b.x), gelu(v.y + b.y), gelu(v.z + b.z), gelu(v.w + b.w));
}
__global__ void bias_gelu_kernel(float* out, const float* inp, const float* bias, int cols, long long n, int exact) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    float x = inp[i] + bias[i % cols];
    out[i] = exact ? 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)) : x / (1.0f + __expf(-1.702f * x));
  }
}
void bias_gelu(float* out, const float* inp, const float* bias, int rows, int cols, cudaStream_t stream) {
  if (rows > 0 && cols > 0 && cols % 4 == 0 && (uintptr_t)out % 16 == 0) {
    long long n4 = (long long)rows * cols / 4;
    vec_kernel<<<(unsigned)((n4 + 255) / 256), 256, 0, stream>>>((float4*)out, (const float4*)inp, (const float4*)bias, cols / 4, n4);
    return;
  }
  long long n = (long long)rows * cols;
  if (n <= 0) return;
  bias_gelu_kernel<<<(unsigned)((n + 511) / 512), 256, 0, stream>>>(out, inp, bias, cols, n, 1);
}
