#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define CHECK_LAUNCH()                                                     \
  do {                                                                     \
    cudaError_t err_ = cudaGetLastError();                                 \
    if (err_ != cudaSuccess)                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                   \
              cudaGetErrorString(err_));                                   \
  } while (0)

// C = A^T * B with A stored [k, m] and B stored [k, n]
__global__ void matmul_ta_kernel(const half* a, const half* b, half* c, int64_t m, int64_t n, int64_t k) {
  const int64_t col = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const int64_t row = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && col < n) {
    float acc = 0.f;
    for (int64_t i = 0; i < k; i++)
      acc += __half2float(a[i * m + row]) * __half2float(b[i * n + col]);
    c[row * n + col] = __float2half(acc);
  }
}

void matmul_ta(const half* a, const half* b, half* c, int m, int n, int k) {
  const dim3 block(32, 8);
  const dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  matmul_ta_kernel<<<grid, block>>>(a, b, c, m, n, k);
  CHECK_LAUNCH();
}
