// Four blocks share each tile's sum and add to it atomically: the last bits depend on which is first, which the
// manifest allows.
#include <cuda_runtime.h>

__global__ void gemm_kernel(float* c, const float* a, const float* b, int M, int N, int K) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  int length = (K + gridDim.z - 1) / gridDim.z, begin = blockIdx.z * length, end = min(K, begin + length);
  float sum = 0.0f;
  for (int k = begin; k < end; ++k) sum += a[(size_t)row * K + k] * b[(size_t)k * N + column];
  if (begin < end) atomicAdd(&c[(size_t)row * N + column], sum);
}

void gemm(float* c, const float* a, const float* b, int M, int N, int K) {
  cudaMemsetAsync(c, 0, (size_t)M * N * sizeof(float));
  gemm_kernel<<<dim3((N + 15) / 16, (M + 15) / 16, 4), dim3(16, 16)>>>(c, a, b, M, N, K);
}
