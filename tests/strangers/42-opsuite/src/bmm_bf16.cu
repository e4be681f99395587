#include <cuda_bf16.h>
#include <mma.h>

namespace bmm {

using namespace nvcuda;
using bf16 = __nv_bfloat16;

enum { TM = 16, TN = 32, TK = 16 };

// One warp owns a 16 x 32 piece of one matrix of the batch. Everything goes through shared memory so that
// ragged edges can be filled with zeros.
__global__ void __launch_bounds__(32) one_warp_tile(const bf16* a, const bf16* b, bf16* c, int M, int N, int K) {
    __shared__ __align__(32) bf16 sa[TM * TK];
    __shared__ __align__(32) bf16 sb[TK * TN];
    __shared__ __align__(32) float sc[TM * TN];

    const int lane = threadIdx.x;
    const int m0 = blockIdx.y * TM, n0 = blockIdx.x * TN;
    a += (size_t)blockIdx.z * M * K;
    b += (size_t)blockIdx.z * K * N;
    c += (size_t)blockIdx.z * M * N;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
    wmma::fill_fragment(acc[0], 0.0f);
    wmma::fill_fragment(acc[1], 0.0f);

    const bf16 zero = __float2bfloat16(0.0f);
    for (int k0 = 0; k0 < K; k0 += TK) {
        for (int i = lane; i < TM * TK; i += 32) {
            const int r = m0 + i / TK, q = k0 + i % TK;
            sa[i] = (r < M && q < K) ? a[(size_t)r * K + q] : zero;
        }
        for (int i = lane; i < TK * TN; i += 32) {
            const int q = k0 + i / TN, col = n0 + i % TN;
            sb[i] = (q < K && col < N) ? b[(size_t)q * N + col] : zero;
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> fa;
        wmma::load_matrix_sync(fa, sa, TK);
        for (int j = 0; j < 2; ++j) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> fb;
            wmma::load_matrix_sync(fb, sb + 16 * j, TN);
            wmma::mma_sync(acc[j], fa, fb, acc[j]);
        }
        __syncwarp();
    }

    wmma::store_matrix_sync(sc, acc[0], TN, wmma::mem_row_major);
    wmma::store_matrix_sync(sc + 16, acc[1], TN, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < TM * TN; i += 32) {
        const int r = m0 + i / TN, col = n0 + i % TN;
        if (r < M && col < N) c[(size_t)r * N + col] = __float2bfloat16(sc[i]);
    }
}

}  // namespace bmm

void batched_matmul_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int batch, int M, int N,
                         int K, cudaStream_t stream) {
    const dim3 grid((N + bmm::TN - 1) / bmm::TN, (M + bmm::TM - 1) / bmm::TM, batch);
    bmm::one_warp_tile<<<grid, 32, 0, stream>>>(a, b, c, M, N, K);
}
