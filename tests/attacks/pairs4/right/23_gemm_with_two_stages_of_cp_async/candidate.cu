#include <cuda_bf16.h>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>
#include <mma.h>

typedef __nv_bfloat16 bf16;
using namespace nvcuda;


// Tiles of 64 x 64 x 32 in two stages of shared memory; rows are padded by 16 bytes against bank conflicts.
constexpr int kStrideA = 40, kStrideB = 72, kStrideC = 68;

// Brings a tile of A and one of B on their way: 16 bytes at a time, asynchronously, where rows and pointers allow it
// (kVector), else element by element. What is outside of the matrices becomes zero.
template <bool kVector>
__device__ __forceinline__ void load(bf16* as, bf16* bs, const bf16* A, const bf16* B, int m0, int n0, int k0, int M,
                                     int N, int K) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    int e = threadIdx.x + i * 128;
    int ra = e / 4, ca = e % 4 * 8, rb = e / 8, cb = e % 8 * 8;
    int m = m0 + ra, ka = k0 + ca, kb = k0 + rb, n = n0 + cb;
    if (kVector) {
      bool a = m < M && ka < K, b = kb < K && n < N;
      __pipeline_memcpy_async(as + ra * kStrideA + ca, a ? A + (size_t)m * K + ka : A, 16, a ? 0 : 16);
      __pipeline_memcpy_async(bs + rb * kStrideB + cb, b ? B + (size_t)kb * N + n : B, 16, b ? 0 : 16);
    } else {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        as[ra * kStrideA + ca + j] = m < M && ka + j < K ? A[(size_t)m * K + ka + j] : __float2bfloat16(0.0f);
        bs[rb * kStrideB + cb + j] = kb < K && n + j < N ? B[(size_t)kb * N + n + j] : __float2bfloat16(0.0f);
      }
    }
  }
}

// Four warps, each with 32 x 32 elements on tensor cores; sums are f32.
template <bool kVector>
__global__ void __launch_bounds__(128) gemm_kernel(bf16* C, const bf16* A, const bf16* B, int M, int N, int K) {
  __shared__ __align__(32) bf16 as[2][64 * kStrideA];
  __shared__ __align__(32) bf16 bs[2][32 * kStrideB];
  __shared__ __align__(32) float cs[64 * kStrideC];
  int warp = threadIdx.x / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
  int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
  int tiles = (K + 31) / 32;
  if (tiles > 0) load<kVector>(as[0], bs[0], A, B, m0, n0, 0, M, N, K);
  __pipeline_commit();
  for (int tile = 0; tile < tiles; ++tile) {
    int stage = tile % 2;
    if (tile + 1 < tiles) load<kVector>(as[1 - stage], bs[1 - stage], A, B, m0, n0, (tile + 1) * 32, M, N, K);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> a[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> b[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(a[i], as[stage] + (wm + i * 16) * kStrideA + k, kStrideA);
        wmma::load_matrix_sync(b[i], bs[stage] + k * kStrideB + wn + i * 16, kStrideB);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(cs + (wm + i * 16) * kStrideC + wn + j * 16, acc[i][j], kStrideC, wmma::mem_row_major);
  __syncthreads();
  for (int e = threadIdx.x; e < 64 * 64; e += 128) {
    int m = m0 + e / 64, n = n0 + e % 64;
    if (m < M && n < N) C[(size_t)m * N + n] = __float2bfloat16(cs[e / 64 * kStrideC + e % 64]);
  }
}

void gemm_bf16(bf16* C, const bf16* A, const bf16* B, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  dim3 grid((N + 63) / 64, (M + 63) / 64);
  if (K % 8 == 0 && N % 8 == 0 && ((size_t)A | (size_t)B) % 16 == 0)
    gemm_kernel<true><<<grid, 128, 0, stream>>>(C, A, B, M, N, K);
  else
    gemm_kernel<false><<<grid, 128, 0, stream>>>(C, A, B, M, N, K);
}
