#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Two E2M1 values in a byte, the low nibble first, times the scale of its block of 32: out [n] from packed [n / 2], scale [n / 32].
__device__ float e2m1(int code) {
  int exponent = code >> 1 & 3, mantissa = code & 1;
  float v = exponent == 0 ? 0.5f * mantissa : ldexpf(1.0f + 0.5f * mantissa, exponent - 1);
  return code & 8 ? -v : v;
}

__global__ void dequant_kernel(__half* out, const unsigned char* packed, const float* scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int code = packed[i / 2] >> (i % 2 * 4) & 15;
  out[i] = __float2half(e2m1(code) * scale[i / 32]);
}

void dequant_fp4(__half* out, const unsigned char* packed, const float* scale, int blocks, cudaStream_t stream) {
  int n = blocks * 32;
  dequant_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, packed, scale, n);
}
