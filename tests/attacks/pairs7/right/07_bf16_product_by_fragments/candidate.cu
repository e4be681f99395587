#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;


// Tiles of 64 x 64, 32 deep; four warps with 32 x 32 each. The next tiles wait in registers while these are multiplied. Results leave
// through shared memory, since fragments know no borders.
constexpr int kTile = 64, kDepth = 32;

// Eight neighbours of a row of `width`; zeros where there are none.
template <bool kVectors>
__device__ __forceinline__ uint4 fetch(const __nv_bfloat16* x, size_t row, int rows, size_t column, int width) {
  uint4 eight = make_uint4(0, 0, 0, 0);
  if (row >= (size_t)rows || column >= (size_t)width) return eight;
  const __nv_bfloat16* from = x + row * width + column;
  if (kVectors) return *reinterpret_cast<const uint4*>(from);
  auto* one = reinterpret_cast<unsigned short*>(&eight);
#pragma unroll
  for (int k = 0; k < 8; ++k)
    if (column + k < (size_t)width) one[k] = reinterpret_cast<const unsigned short*>(from)[k];
  return eight;
}

template <bool kVectors>
__global__ void __launch_bounds__(128)
    linear_kernel(float* C, const __nv_bfloat16* A, const __nv_bfloat16* B, int M, int N, int K, unsigned tiles_n) {
  __shared__ __align__(32) __nv_bfloat16 a[kTile][kDepth + 8], b[kDepth][kTile + 8];
  __shared__ __align__(32) float c[kTile][kTile + 4];
  size_t m0 = (size_t)(blockIdx.x / tiles_n) * kTile, n0 = (size_t)(blockIdx.x % tiles_n) * kTile;
  int t = threadIdx.x, warp = t / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) wmma::fill_fragment(acc[i / 2][i % 2], 0.0f);
  uint4 next_a[2], next_b[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    int e = t + h * 128;
    next_a[h] = fetch<kVectors>(A, m0 + e / 4, M, e % 4 * 8, K);
    next_b[h] = fetch<kVectors>(B, e / 8, K, n0 + e % 8 * 8, N);
  }
  for (size_t k0 = 0; k0 < (size_t)K; k0 += kDepth) {
    __syncthreads();
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      int e = t + h * 128;
      *reinterpret_cast<uint4*>(&a[e / 4][e % 4 * 8]) = next_a[h];
      *reinterpret_cast<uint4*>(&b[e / 8][e % 8 * 8]) = next_b[h];
    }
    __syncthreads();
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      int e = t + h * 128;
      next_a[h] = fetch<kVectors>(A, m0 + e / 4, M, k0 + kDepth + e % 4 * 8, K);
      next_b[h] = fetch<kVectors>(B, k0 + kDepth + e / 8, K, n0 + e % 8 * 8, N);
    }
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(fa[i], &a[wm + i * 16][k], kDepth + 8);
        wmma::load_matrix_sync(fb[i], &b[k][wn + i * 16], kTile + 8);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) wmma::mma_sync(acc[i / 2][i % 2], fa[i / 2], fb[i % 2], acc[i / 2][i % 2]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    wmma::store_matrix_sync(&c[wm + i / 2 * 16][wn + i % 2 * 16], acc[i / 2][i % 2], kTile + 4, wmma::mem_row_major);
  __syncthreads();
  for (int e = t; e < kTile * kTile; e += 128) {
    size_t m = m0 + e / kTile, n = n0 + e % kTile;
    if (m < (size_t)M && n < (size_t)N) C[m * N + n] = c[e / kTile][e % kTile];
  }
}

void linear(float* C, const __nv_bfloat16* A, const __nv_bfloat16* B, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  size_t tiles_n = ((size_t)N + kTile - 1) / kTile, tiles = tiles_n * (((size_t)M + kTile - 1) / kTile);
  bool vectors = (K | N) % 8 == 0 && ((size_t)A | (size_t)B) % 16 == 0;
  if (vectors) linear_kernel<true><<<(unsigned)tiles, 128, 0, stream>>>(C, A, B, M, N, K, (unsigned)tiles_n);
  else linear_kernel<false><<<(unsigned)tiles, 128, 0, stream>>>(C, A, B, M, N, K, (unsigned)tiles_n);
}
