#include <cuda_fp16.h>
#include <cuda_runtime.h>


#include <mma.h>

using namespace nvcuda;

// C[M,N] = A[M,K] * B[K,N]; f16 in and out, sums in float: four warps, each a tile of 16 x 16.
__global__ void __launch_bounds__(128) hgemm_kernel(__half* C, const __half* A, const __half* B, int M, int N, int K) {
  __shared__ __align__(32) __half as[32][32];
  __shared__ __align__(32) __half bs[32][32];
  __shared__ __align__(32) float cs[4][16][16];
  int warp = threadIdx.x / 32;
  int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
  int wm = warp / 2 * 16, wn = warp % 2 * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k0 = 0; k0 < K; k0 += 32) {
    for (int e = threadIdx.x; e < 32 * 32; e += 128) {
      int r = e / 32, c = e % 32;
      as[r][c] = m0 + r < M && k0 + c < K ? A[(size_t)(m0 + r) * K + k0 + c] : __float2half(0.0f);
      bs[r][c] = k0 + r < K && n0 + c < N ? B[(size_t)(k0 + r) * N + n0 + c] : __float2half(0.0f);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
      wmma::load_matrix_sync(a, &as[wm][k], 32);
      wmma::load_matrix_sync(b, &bs[k][wn], 32);
      wmma::mma_sync(acc, a, b, acc);
    }
    __syncthreads();
  }
  wmma::store_matrix_sync(&cs[warp][0][0], acc, 16, wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x % 32; e < 256; e += 32) {
    int m = m0 + wm + e / 16, n = n0 + wn + e % 16;
    if (m < M && n < N) C[(size_t)m * N + n] = __float2half(cs[warp][e / 16][e % 16]);
  }
}

void hgemm(__half* C, const __half* A, const __half* B, int M, int N, int K, cudaStream_t stream) {
  hgemm_kernel<<<dim3((N + 31) / 32, (M + 31) / 32), 128, 0, stream>>>(C, A, B, M, N, K);
}
