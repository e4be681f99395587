#include <cuda_fp16.h>
#include <mma.h>
#include <cuda_runtime.h>

#include <cstdint>

using namespace nvcuda;

// 64 x 64 for each block, 32 x 32 for each of its four warps, 32 deep in shared memory; zeros beyond the ends. What is beyond C is not stored.
template <bool kEights>
__device__ __forceinline__ void load_tile(__half* to, int pitch, const __half* from, int rows, int columns, long long r0, long long c0, int R, int C) {
  for (int e = threadIdx.x * 8; e < rows * columns; e += 128 * 8) {
    int r = e / columns, c = e % columns;
    if (kEights) {
      uint4 v = {0, 0, 0, 0};
      if (r0 + r < R && c0 + c < C) v = *reinterpret_cast<const uint4*>(from + (r0 + r) * C + c0 + c);
      *reinterpret_cast<uint4*>(to + r * pitch + c) = v;
    } else {
#pragma unroll
      for (int j = 0; j < 8; ++j) to[r * pitch + c + j] = r0 + r < R && c0 + c + j < C ? from[(r0 + r) * C + c0 + c + j] : __float2half(0.f);
    }
  }
}

template <bool kEights>
__global__ void __launch_bounds__(128) gemm_kernel(__half* C, const __half* A, const __half* B, int M, int N, int K, unsigned across) {
  __shared__ __align__(32) __half a[64][40], b[32][72];
  __shared__ __align__(32) float c[4][16][20];
  long long r0 = (long long)(blockIdx.x / across) * 64, c0 = (long long)(blockIdx.x % across) * 64;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, wr = warp / 2 * 32, wc = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.f);
  for (int k0 = 0; k0 < K; k0 += 32) {
    load_tile<kEights>(&a[0][0], 40, A, 64, 32, r0, k0, M, K);
    load_tile<kEights>(&b[0][0], 72, B, 32, 64, k0, c0, K, N);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb[2];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(fa[i], &a[wr + 16 * i][k], 40);
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(fb[j], &b[k][wc + 16 * j], 72);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(&c[warp][0][0], sum[i][j], 20, wmma::mem_row_major);
      __syncwarp();
      for (int e = lane; e < 256; e += 32) {
        long long r = r0 + wr + 16 * i + e / 16, n = c0 + wc + 16 * j + e % 16;
        if (r < M && n < N) C[r * N + n] = __float2half(c[warp][e / 16][e % 16]);
      }
      __syncwarp();
    }
}

void hgemm(__half* C, const __half* A, const __half* B, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  unsigned across = (unsigned)(((long long)N + 63) / 64), blocks = across * (unsigned)(((long long)M + 63) / 64);
  if (K % 8 == 0 && N % 8 == 0 && ((size_t)A | (size_t)B) % 16 == 0)
    gemm_kernel<true><<<blocks, 128, 0, stream>>>(C, A, B, M, N, K, across);
  else
    gemm_kernel<false><<<blocks, 128, 0, stream>>>(C, A, B, M, N, K, across);
}
