#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace kb {

constexpr int kTile = 32;

// C[b, i, j, k] = sum_l A[b, i, j, l] * B[l, k]: the first three axes are one row axis.
template <int TILE>
__global__ void tensor4_matmul(const __half* __restrict__ A, const __half* __restrict__ B, __half* __restrict__ C,
                               int rows, int L, int K) {
    __shared__ float sa[TILE][TILE];
    __shared__ float sb[TILE][TILE + 1];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;

    float acc = 0.f;
    const int tiles = (L + TILE - 1) / TILE;
    for (int t = 0; t < tiles; ++t) {
        const int la = t * TILE + tx;
        const int lb = t * TILE + ty;
        sa[ty][tx] = (row < rows && la < L) ? __half2float(A[(size_t)row * L + la]) : 0.f;
        sb[ty][tx] = (lb < L && col < K) ? __half2float(B[(size_t)lb * K + col]) : 0.f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i) acc = fmaf(sa[ty][i], sb[i][tx], acc);
        __syncthreads();
    }
    if (row < rows && col < K) C[(size_t)row * K + col] = __float2half_rn(acc);
}

}  // namespace kb

void einsum_bijl_lk(const __half* A, const __half* B, __half* C, int b, int i, int j, int l, int k) {
    const int rows = b * i * j;
    dim3 block(kb::kTile, kb::kTile);
    dim3 grid((k + kb::kTile - 1) / kb::kTile, (rows + kb::kTile - 1) / kb::kTile);
    kb::tensor4_matmul<kb::kTile><<<grid, block>>>(A, B, C, rows, l, k);
}
