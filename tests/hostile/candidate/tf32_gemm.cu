// Inputs rounded to tf32, as the tensor cores would see them.
#include <cuda_runtime.h>

__device__ float narrow(float v) {
  unsigned int bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
  return __uint_as_float(bits);
}

__global__ void gemm_kernel(float* c, const float* a, const float* b, int M, int N, int K) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += narrow(a[(size_t)row * K + k]) * narrow(b[(size_t)k * N + column]);
  c[(size_t)row * N + column] = sum;
}

void gemm(float* c, const float* a, const float* b, int M, int N, int K) {
  gemm_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(c, a, b, M, N, K);
}
