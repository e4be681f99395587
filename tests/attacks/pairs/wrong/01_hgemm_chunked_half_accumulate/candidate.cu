#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <mma.h>
using namespace nvcuda;

// c (M, N) = a (M, K) @ b (K, N). Tensor cores work on chunks of 64 along K; the chunks are summed in float.
constexpr int TILE = 32, KSTEP = 16, CHUNK = 64, LDA = 24, LDB = 40, LDC = 24;

__global__ void __launch_bounds__(128) hgemm_kernel(__half* c, const __half* a, const __half* b, int M, int N, int K) {
  __shared__ __align__(32) __half sa[TILE * LDA];
  __shared__ __align__(32) __half sb[KSTEP * LDB];
  __shared__ __align__(32) __half sc[4][16 * LDC];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int wr = warp / 2 * 16, wc = warp % 2 * 16;
  int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  float total[8] = {};
  for (int chunk = 0; chunk < K; chunk += CHUNK) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> acc;
    wmma::fill_fragment(acc, __float2half(0.0f));
    int end = min(K, chunk + CHUNK);
    for (int k0 = chunk; k0 < end; k0 += KSTEP) {
      for (int i = threadIdx.x; i < TILE * KSTEP; i += 128) {
        int r = i / KSTEP, k = i % KSTEP;
        sa[r * LDA + k] = row0 + r < M && k0 + k < K ? a[(size_t)(row0 + r) * K + k0 + k] : __float2half(0.0f);
        int kk = i / TILE, cc = i % TILE;
        sb[kk * LDB + cc] = k0 + kk < K && col0 + cc < N ? b[(size_t)(k0 + kk) * N + col0 + cc] : __float2half(0.0f);
      }
      __syncthreads();
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
      wmma::load_matrix_sync(fa, sa + wr * LDA, LDA);
      wmma::load_matrix_sync(fb, sb + wc, LDB);
      wmma::mma_sync(acc, fa, fb, acc);
      __syncthreads();
    }
    wmma::store_matrix_sync(sc[warp], acc, LDC, wmma::mem_row_major);
    __syncwarp();
    for (int e = 0; e < 8; ++e) {
      int i = lane + 32 * e;
      total[e] += __half2float(sc[warp][i / 16 * LDC + i % 16]);
    }
    __syncwarp();
  }
  for (int e = 0; e < 8; ++e) {
    int i = lane + 32 * e;
    int r = row0 + wr + i / 16, col = col0 + wc + i % 16;
    if (r < M && col < N) c[(size_t)r * N + col] = __float2half(total[e]);
  }
}

void hgemm(__half* c, const __half* a, const __half* b, int M, int N, int K) {
  dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  hgemm_kernel<<<grid, 128>>>(c, a, b, M, N, K);
}
