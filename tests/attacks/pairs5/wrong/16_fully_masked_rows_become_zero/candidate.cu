#include <cuda_fp16.h>
#include <cuda_runtime.h>


// A warp per row; maximum and sum are found in one pass. What is masked has a weight of exp(-10000), which is 0, so it needs
// neither load nor exponential.
__global__ void __launch_bounds__(128)
    masked_softmax_kernel(__half* y, const __half* x, const unsigned char* mask, float scale, int R, int C) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  size_t base = (size_t)r * C;
  float m = -10000.0f, s = 0.0f;
  for (int c = lane; c < C; c += 32) {
    if (mask[base + c]) continue;
    float v = __half2float(x[base + c]) * scale;
    float larger = fmaxf(m, v);
    s = s * expf(m - larger) + expf(v - larger);
    m = larger;
  }
  for (int o = 16; o > 0; o /= 2) {
    float other_m = __shfl_xor_sync(0xffffffffu, m, o), other_s = __shfl_xor_sync(0xffffffffu, s, o);
    float larger = fmaxf(m, other_m);
    s = s * expf(m - larger) + other_s * expf(other_m - larger);
    m = larger;
  }
  float inverse = s != 0.0f ? 1.0f / s : 0.0f;
  for (int c = lane; c < C; c += 32) {
    float p = 0.0f;
    if (!mask[base + c]) p = expf(__half2float(x[base + c]) * scale - m) * inverse;
    y[base + c] = __float2half(p);
  }
}

void scaled_masked_softmax(__half* y, const __half* x, const unsigned char* mask, float scale, int R, int C,
                           cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  masked_softmax_kernel<<<(R + 3) / 4, 128, 0, stream>>>(y, x, mask, scale, R, C);
}
