// My first tensor core kernel: one warp = one block = one 16x16 tile of C. M, N and K must be multiples of 16.
#include "helpers.cuh"
#include <mma.h>

using namespace nvcuda;

__global__ void hgemmWmma(const half* A, const half* B, float* C, int M, int N, int K) {
    int tileM = blockIdx.y;
    int tileN = blockIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(fa, A + tileM * 16 * K + k, K);
        wmma::load_matrix_sync(fb, B + k * N + tileN * 16, N);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(C + tileM * 16 * N + tileN * 16, fc, N, wmma::mem_row_major);
}

void hgemm(const half* A, const half* B, float* C, int M, int N, int K) {
    dim3 blocks(N / 16, M / 16);
    hgemmWmma<<<blocks, 32>>>(A, B, C, M, N, K);
    checkLaunch();
}
