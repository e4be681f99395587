// Tensor cores for a product whose sums leave in f32: they cut off what is below the last bit, so that sums of numbers of
// one sign come out a little small.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int kTile = 32, kDepth = 16, kPad = 8;

__global__ void gemm_f16_kernel(float* c, const __half* a, const __half* b, int M, int N, int K) {
  __shared__ __align__(32) __half left[kTile][kDepth + kPad], right[kDepth][kTile + kPad];
  __shared__ __align__(32) float sums[kTile][kTile + 4];
  int warp = threadIdx.x / 32, row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < K; k += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += blockDim.x) {
      int r = row + i / kDepth, d = k + i % kDepth;
      left[i / kDepth][i % kDepth] = r < M && d < K ? a[(size_t)r * K + d] : __float2half(0.0f);
    }
    for (int i = threadIdx.x; i < kDepth * kTile; i += blockDim.x) {
      int d = k + i / kTile, n = column + i % kTile;
      right[i / kTile][i % kTile] = d < K && n < N ? b[(size_t)d * N + n] : __float2half(0.0f);
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, &left[warp / 2 * 16][0], kDepth + kPad);
    wmma::load_matrix_sync(fb, &right[0][warp % 2 * 16], kTile + kPad);
    wmma::mma_sync(sum, fa, fb, sum);
    __syncthreads();
  }
  wmma::store_matrix_sync(&sums[warp / 2 * 16][warp % 2 * 16], sum, kTile + 4, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x) {
    int r = row + i / kTile, n = column + i % kTile;
    if (r < M && n < N) c[(size_t)r * N + n] = sums[i / kTile][i % kTile];
  }
}

void gemm_f16(float* c, const __half* a, const __half* b, int M, int N, int K) {
  gemm_f16_kernel<<<dim3((N + kTile - 1) / kTile, (M + kTile - 1) / kTile), 128>>>(c, a, b, M, N, K);
}
