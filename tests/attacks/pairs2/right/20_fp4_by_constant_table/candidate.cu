#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Two E2M1 values in a byte, the low nibble first, times the scale of its block of 32: out [n] from packed [n / 2], scale [n / 32].
__constant__ constexpr float e2m1[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                         -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

__global__ void dequant_kernel(__half* out, const unsigned char* packed, const float* scale, int n) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= n / 2) return;
  int byte = packed[b];
  float s = scale[b / 16];
  out[2 * b] = __float2half(e2m1[byte & 15] * s);
  out[2 * b + 1] = __float2half(e2m1[byte >> 4] * s);
}

void dequant_fp4(__half* out, const unsigned char* packed, const float* scale, int blocks, cudaStream_t stream) {
  int n = blocks * 32;
  dequant_kernel<<<(n / 2 + 255) / 256, 256, 0, stream>>>(out, packed, scale, n);
}
