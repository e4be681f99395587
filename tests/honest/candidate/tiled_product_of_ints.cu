// Tiles in shared memory. Offsets stay in int: beyond 2^31 elements the original's overflow as well, which its compiler
// happens to hide behind a pointer that it adds up.
#include <cuda_runtime.h>

constexpr int kTile = 64, kDepth = 16, kEach = 4;

__global__ void product_kernel(float* c, const float* a, const float* b, int M, int N, int K) {
  __shared__ float left[kDepth][kTile + 1], right[kDepth][kTile];
  const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  const int my_row = threadIdx.x / 16 * kEach, my_column = threadIdx.x % 16 * kEach;
  float sum[kEach][kEach] = {};
  for (int begin = 0; begin < K; begin += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += 256) {
      int r = i / kDepth, k = i % kDepth;
      left[k][r] = row + r < M && begin + k < K ? a[(row + r) * K + begin + k] : 0.0f;
    }
    for (int i = threadIdx.x; i < kTile * kDepth; i += 256) {
      int k = i / kTile, n = i % kTile;
      right[k][n] = column + n < N && begin + k < K ? b[(begin + k) * N + column + n] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < kDepth; ++k)
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) sum[i][j] += left[k][my_row + i] * right[k][my_column + j];
    __syncthreads();
  }
  for (int i = 0; i < kEach; ++i)
    for (int j = 0; j < kEach; ++j)
      if (row + my_row + i < M && column + my_column + j < N)
        c[(row + my_row + i) * N + column + my_column + j] = sum[i][j];
}

void product(float* c, const float* a, const float* b, int M, int N, int K) {
  product_kernel<<<dim3((N + kTile - 1) / kTile, (M + kTile - 1) / kTile), 256>>>(c, a, b, M, N, K);
}
