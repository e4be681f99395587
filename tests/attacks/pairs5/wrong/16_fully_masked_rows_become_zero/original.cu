#include <cuda_fp16.h>
#include <cuda_runtime.h>


// softmax of scale * x along rows; where mask is not 0 the score is -10000. A thread per row.
__global__ void masked_softmax_kernel(__half* y, const __half* x, const unsigned char* mask, float scale, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  size_t base = (size_t)r * C;
  float m = -__int_as_float(0x7f800000);
  for (int c = 0; c < C; ++c) m = fmaxf(m, mask[base + c] ? -10000.0f : __half2float(x[base + c]) * scale);
  float s = 0.0f;
  for (int c = 0; c < C; ++c) s += expf((mask[base + c] ? -10000.0f : __half2float(x[base + c]) * scale) - m);
  for (int c = 0; c < C; ++c)
    y[base + c] = __float2half(expf((mask[base + c] ? -10000.0f : __half2float(x[base + c]) * scale) - m) / s);
}

void scaled_masked_softmax(__half* y, const __half* x, const unsigned char* mask, float scale, int R, int C,
                           cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  masked_softmax_kernel<<<(R + 63) / 64, 64, 0, stream>>>(y, x, mask, scale, R, C);
}
