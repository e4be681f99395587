// The table in constant memory, and codes and results streamed through the caches without staying there.
#include <cuda_runtime.h>

__constant__ float kLevels[16] = {-1.0f, -0.7f, -0.53f, -0.39f, -0.28f, -0.18f, -0.09f, 0.0f,
                                  0.08f, 0.16f, 0.25f,  0.34f,  0.44f,  0.56f,  0.72f,  1.0f};

__global__ void dequantize_kernel(float* out, const int* codes, const float* scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int code;
  if (i % 2 == 0)
    code = __ldcs(codes + i);
  else
    asm volatile("ld.global.L1::evict_first.b32 %0, [%1];" : "=r"(code) : "l"(codes + i));
  __stcs(out + i, kLevels[code & 15] * __ldg(scale + i / 64));
}

void dequantize(float* out, const int* codes, const float* scale, int n) {
  dequantize_kernel<<<(n + 255) / 256, 256>>>(out, codes, scale, n);
}
