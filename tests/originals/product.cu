// c = a b, one thread per element; offsets are counted in int, as most people write it.
#include <cuda_runtime.h>

__global__ void product_kernel(float* c, const float* a, const float* b, int M, int N, int K) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + column];
  c[row * N + column] = sum;
}

void product(float* c, const float* a, const float* b, int M, int N, int K) {
  product_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(c, a, b, M, N, K);
}
