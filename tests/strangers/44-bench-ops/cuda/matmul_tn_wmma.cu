/*
 * C[M,N] = A^T * B with A stored as [K,M] and B as [K,N], all half.
 * Tensor cores through nvcuda::wmma, 64x64 block tile, 4 warps of 32x32.
 */
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int BM = 64;
constexpr int BN = 64;
constexpr int BK = 32;
constexpr int PAD = 8;

__global__ __launch_bounds__(128) void matmul_tn_kernel(const half* __restrict__ A, const half* __restrict__ B,
                                                        half* __restrict__ C, int M, int N, int K) {
    __shared__ __align__(32) half As[BK][BM + PAD];
    __shared__ __align__(32) half Bs[BK][BN + PAD];
    __shared__ __align__(32) float Cs[BM][BN + 4];

    const int m0 = blockIdx.y * BM;
    const int n0 = blockIdx.x * BN;
    const int warp = threadIdx.x / 32;
    const int wm = (warp / 2) * 32;
    const int wn = (warp % 2) * 32;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) wmma::fill_fragment(acc[i][j], 0.0f);

    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int t = threadIdx.x; t < BK * BM; t += blockDim.x) {
            int k = t / BM, m = t % BM;
            bool ok = k0 + k < K && m0 + m < M;
            As[k][m] = ok ? A[(size_t)(k0 + k) * M + m0 + m] : __float2half(0.f);
        }
        for (int t = threadIdx.x; t < BK * BN; t += blockDim.x) {
            int k = t / BN, n = t % BN;
            bool ok = k0 + k < K && n0 + n < N;
            Bs[k][n] = ok ? B[(size_t)(k0 + k) * N + n0 + n] : __float2half(0.f);
        }
        __syncthreads();

        for (int kk = 0; kk < BK; kk += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> a[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[2];
            for (int i = 0; i < 2; i++) wmma::load_matrix_sync(a[i], &As[kk][wm + 16 * i], BM + PAD);
            for (int j = 0; j < 2; j++) wmma::load_matrix_sync(b[j], &Bs[kk][wn + 16 * j], BN + PAD);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
        }
        __syncthreads();
    }

    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(&Cs[wm + 16 * i][wn + 16 * j], acc[i][j], BN + 4, wmma::mem_row_major);
    __syncthreads();

    for (int t = threadIdx.x; t < BM * BN; t += blockDim.x) {
        int m = t / BN, n = t % BN;
        if (m0 + m < M && n0 + n < N) C[(size_t)(m0 + m) * N + n0 + n] = __float2half(Cs[m][n]);
    }
}

void matmul_tn(const half* A, const half* B, half* C, int M, int N, int K, cudaStream_t stream) {
    dim3 grid((N + BN - 1) / BN, (M + BM - 1) / BM);
    matmul_tn_kernel<<<grid, 128, 0, stream>>>(A, B, C, M, N, K);
}
