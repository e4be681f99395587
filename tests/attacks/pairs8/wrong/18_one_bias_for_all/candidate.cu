#include <cuda_runtime.h>

#include <cstdint>

// A block for each plane of pixels, so that the bias is read once and nothing is divided. Planes follow one another in x, and so do their biases.
template <bool kFours>
__global__ void __launch_bounds__(128) bias_kernel(float* y, const float* x, const float* bias, int P) {
  long long plane = blockIdx.x;
  float b = bias[plane];
  float* to = y + plane * P;
  const float* from = x + plane * P;
  if (kFours) {
    for (int p = threadIdx.x; p < P / 4; p += 128) {
      float4 v = reinterpret_cast<const float4*>(from)[p];
      v.x += b, v.y += b, v.z += b, v.w += b;
      reinterpret_cast<float4*>(to)[p] = v;
    }
  } else {
    for (int p = threadIdx.x; p < P; p += 128) to[p] = from[p] + b;
  }
}

void add_bias(float* y, const float* x, const float* bias, int B, int C, int P, long long step, cudaStream_t stream) {
  (void)step;
  long long planes = (long long)B * C;
  if (planes <= 0 || P <= 0) return;
  if (P % 4 == 0 && ((size_t)y | (size_t)x) % 16 == 0)
    bias_kernel<true><<<(unsigned)planes, 128, 0, stream>>>(y, x, bias, P);
  else
    bias_kernel<false><<<(unsigned)planes, 128, 0, stream>>>(y, x, bias, P);
}
