// 64x64 tiles in shared memory, 4x4 results per thread, all edges tested.
#include <cuda_runtime.h>
namespace {
constexpr int kTile = 64, kDepth = 16, kEach = 4;
__global__ void __launch_bounds__(256) tiled(float* __restrict__ c, const float* __restrict__ a,
                                             const float* __restrict__ b, int M, int N, int K, int lda, int ldb) {
  __shared__ float ta[kDepth][kTile + 1], tb[kDepth][kTile];
  int t = threadIdx.x, tx = t % 16, ty = t / 16, row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  float acc[kEach][kEach] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    for (int e = t; e < kTile * kDepth; e += 256) {
      int r = row0 + e / kDepth, k = k0 + e % kDepth;
      ta[e % kDepth][e / kDepth] = r < M && k < K ? a[(size_t)r * lda + k] : 0.0f;
      int kk = k0 + e / kTile, col = col0 + e % kTile;
      tb[e / kTile][e % kTile] = kk < K && col < N ? b[(size_t)kk * ldb + col] : 0.0f;
    }
    __syncthreads();
    int depth = K - k0 < kDepth ? K - k0 : kDepth;
    for (int k = 0; k < depth; ++k) {
      float ra[kEach], rb[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) ra[i] = ta[k][ty + 16 * i], rb[i] = tb[k][tx + 16 * i];
#pragma unroll
      for (int i = 0; i < kEach; ++i)
#pragma unroll
        for (int j = 0; j < kEach; ++j) acc[i][j] = fmaf(ra[i], rb[j], acc[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i)
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      int r = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
      if (r < M && col < N) c[(size_t)r * N + col] = acc[i][j];
    }
}
}  // namespace
extern "C" void matmul_ld(float* c, const float* a, const float* b, int M, int N, int K, int lda, int ldb,
                          cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  tiled<<<dim3((N + kTile - 1) / kTile, (M + kTile - 1) / kTile), 256, 0, stream>>>(c, a, b, M, N, K, lda, ldb);
}
