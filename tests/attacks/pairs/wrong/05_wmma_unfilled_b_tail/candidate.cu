#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <mma.h>
using namespace nvcuda;

// c (M, N) = a (M, K) @ b (K, N) on tensor cores, float accumulators. Tiles of a are padded with zeros, so that rows of
// b beyond K do not contribute.
constexpr int TILE = 32, KSTEP = 16, LDA = 24, LDB = 40, LDC = 36;

__global__ void __launch_bounds__(128) hgemm_kernel(__half* c, const __half* a, const __half* b, int M, int N, int K) {
  __shared__ __align__(32) __half sa[TILE * LDA];
  __shared__ __align__(32) __half sb[KSTEP * LDB];
  __shared__ __align__(32) float sc[TILE * LDC];
  const __half zero = __float2half(0.0f);
  int warp = threadIdx.x / 32;
  int wr = warp / 2 * 16, wc = warp % 2 * 16;
  int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k0 = 0; k0 < K; k0 += KSTEP) {
    for (int i = threadIdx.x; i < TILE * KSTEP; i += 128) {
      int r = i / KSTEP, k = i % KSTEP;
      sa[r * LDA + k] = row0 + r < M && k0 + k < K ? a[(size_t)(row0 + r) * K + k0 + k] : zero;
      int kk = i / TILE, cc = i % TILE;
      if (col0 + cc >= N) sb[kk * LDB + cc] = zero;
      else if (k0 + kk < K) sb[kk * LDB + cc] = b[(size_t)(k0 + kk) * N + col0 + cc];
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, sa + wr * LDA, LDA);
    wmma::load_matrix_sync(fb, sb + wc, LDB);
    wmma::mma_sync(acc, fa, fb, acc);
    __syncthreads();
  }
  wmma::store_matrix_sync(sc + wr * LDC + wc, acc, LDC, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < TILE * TILE; i += 128) {
    int r = row0 + i / TILE, col = col0 + i % TILE;
    if (r < M && col < N) c[(size_t)r * N + col] = __float2half(sc[i / TILE * LDC + i % TILE]);
  }
}

void hgemm(__half* c, const __half* a, const __half* b, int M, int N, int K) {
  dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  hgemm_kernel<<<grid, 128>>>(c, a, b, M, N, K);
}
