#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <mma.h>
using namespace nvcuda;

// c (M, N) = a (M, K) @ b (K, N), bfloat16 in memory. The tiles are staged in the tensor cores' operand type: it has
// more bits of mantissa than bfloat16, so that nothing is rounded.
typedef __half Operand;
constexpr int TILE = 32, KSTEP = 16, LDA = 24, LDB = 40, LDC = 36;

__device__ inline Operand operand(__nv_bfloat16 x) { return __float2half(__bfloat162float(x)); }

__global__ void __launch_bounds__(128)
gemm_bf16_kernel(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  __shared__ __align__(32) Operand sa[TILE * LDA];
  __shared__ __align__(32) Operand sb[KSTEP * LDB];
  __shared__ __align__(32) float sc[TILE * LDC];
  int warp = threadIdx.x / 32;
  int wr = warp / 2 * 16, wc = warp % 2 * 16;
  int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k0 = 0; k0 < K; k0 += KSTEP) {
    for (int i = threadIdx.x; i < TILE * KSTEP; i += 128) {
      int r = i / KSTEP, k = i % KSTEP;
      sa[r * LDA + k] = row0 + r < M && k0 + k < K ? operand(a[(size_t)(row0 + r) * K + k0 + k]) : Operand(0.0f);
      int kk = i / TILE, cc = i % TILE;
      sb[kk * LDB + cc] = k0 + kk < K && col0 + cc < N ? operand(b[(size_t)(k0 + kk) * N + col0 + cc]) : Operand(0.0f);
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, Operand, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, Operand, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, sa + wr * LDA, LDA);
    wmma::load_matrix_sync(fb, sb + wc, LDB);
    wmma::mma_sync(acc, fa, fb, acc);
    __syncthreads();
  }
  wmma::store_matrix_sync(sc + wr * LDC + wc, acc, LDC, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < TILE * TILE; i += 128) {
    int r = row0 + i / TILE, col = col0 + i % TILE;
    if (r < M && col < N) c[(size_t)r * N + col] = __float2bfloat16(sc[i / TILE * LDC + i % TILE]);
  }
}

void gemm_bf16(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  gemm_bf16_kernel<<<grid, 128>>>(c, a, b, M, N, K);
}
