#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <mma.h>
using namespace nvcuda;

// c (M, N) = a (M, K) @ b (K, N), bfloat16. A block computes 16 x 16 elements; its four warps take every fourth step of
// K each, and their float results are added in a fixed order.
constexpr int LD = 24, LDC = 20, WARPS = 4;

__global__ void __launch_bounds__(32 * WARPS)
gemm_bf16_kernel(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  __shared__ __align__(32) __nv_bfloat16 sa[WARPS][16 * LD];
  __shared__ __align__(32) __nv_bfloat16 sb[WARPS][16 * LD];
  __shared__ __align__(32) float sc[WARPS][16 * LDC];
  const __nv_bfloat16 zero = __float2bfloat16(0.0f);
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k0 = warp * 16; k0 < K; k0 += 16 * WARPS) {
    for (int i = lane; i < 256; i += 32) {
      int r = i / 16, q = i % 16;
      sa[warp][r * LD + q] = row0 + r < M && k0 + q < K ? a[(size_t)(row0 + r) * K + k0 + q] : zero;
      sb[warp][r * LD + q] = k0 + r < K && col0 + q < N ? b[(size_t)(k0 + r) * N + col0 + q] : zero;
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, sa[warp], LD);
    wmma::load_matrix_sync(fb, sb[warp], LD);
    wmma::mma_sync(acc, fa, fb, acc);
    __syncwarp();
  }
  wmma::store_matrix_sync(sc[warp], acc, LDC, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 32 * WARPS) {
    int r = i / 16, q = i % 16;
    float sum = 0.0f;
    for (int w = 0; w < WARPS; ++w) sum += sc[w][r * LDC + q];
    if (row0 + r < M && col0 + q < N) c[(size_t)(row0 + r) * N + col0 + q] = __float2bfloat16(sum);
  }
}

void gemm_bf16(__nv_bfloat16* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int M, int N, int K) {
  dim3 grid((N + 15) / 16, (M + 15) / 16);
  gemm_bf16_kernel<<<grid, 32 * WARPS>>>(c, a, b, M, N, K);
}
