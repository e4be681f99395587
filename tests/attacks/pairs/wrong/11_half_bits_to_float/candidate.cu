#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (rows, cols) = q * scale[row]: half codes to float. The exponent is moved with integer operations, which run beside
// the multiplications.
__device__ inline float widen(unsigned short h) {
  unsigned magnitude = h & 0x7fffu;
  unsigned bits = magnitude ? (magnitude << 13) + (112u << 23) : 0u;
  return __uint_as_float(bits | (unsigned)(h & 0x8000u) << 16);
}

__global__ void dequant_kernel(float* out, const unsigned short* q, const float* scale, int cols) {
  size_t base = (size_t)blockIdx.x * cols;
  float s = scale[blockIdx.x];
  for (int j = threadIdx.x; j < cols; j += blockDim.x) out[base + j] = widen(q[base + j]) * s;
}

void dequant(float* out, const __half* q, const float* scale, int rows, int cols) {
  if (rows > 0 && cols > 0) {
    dequant_kernel<<<rows, cols < 256 ? 64 : 256>>>(out, reinterpret_cast<const unsigned short*>(q), scale, cols);
  }
}
