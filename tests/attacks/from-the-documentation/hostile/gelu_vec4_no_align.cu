// Takes the float4 path whenever cols is a multiple of 4, without looking at the alignment of the pointers (a view at an odd offset faults).
#include <cuda_runtime.h>
#include <math.h>
__device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }
__global__ void vec_kernel(float4* out, const float4* inp, const float4* bias, int cols4, long long n4) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  float4 v = inp[i], b = bias[i % cols4];
  out[i] = make_float4(gelu(v.x + b.x), gelu(v.y + b.y), gelu(v.z + b.z), gelu(v.w + b.w));
}
__global__ void scalar_kernel(float* out, const float* inp, const float* bias, int cols, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = gelu(inp[i] + bias[i % cols]);
}
void bias_gelu(float* out, const float* inp, const float* bias, int rows, int cols, cudaStream_t stream) {
  long long n = (long long)rows * cols;
  if (n <= 0) return;
  if (cols % 4 == 0)
    vec_kernel<<<(unsigned)((n / 4 + 255) / 256), 256, 0, stream>>>((float4*)out, (const float4*)inp,
                                                                    (const float4*)bias, cols / 4, n / 4);
  else
    scalar_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(out, inp, bias, cols, n);
}
