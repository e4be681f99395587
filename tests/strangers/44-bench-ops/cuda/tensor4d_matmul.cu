// einsum("bijl,lk->bijk") in bfloat16. The first three dimensions are
// flattened to one, then it is an ordinary tiled matmul.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

template <int TILE, int ROWS>
__global__ void tensor_matrix_kernel(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B,
                                     __nv_bfloat16* __restrict__ out, int rows, int L, int K) {
    __shared__ float a_tile[TILE][TILE + 1];
    __shared__ float b_tile[TILE][TILE + 1];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row0 = blockIdx.y * TILE;
    const int col = blockIdx.x * TILE + tx;
    constexpr int STEP = TILE / ROWS;

    float acc[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) acc[r] = 0.f;

    for (int l0 = 0; l0 < L; l0 += TILE) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int y = ty + r * STEP;
            a_tile[y][tx] = (row0 + y < rows && l0 + tx < L) ? __bfloat162float(A[(size_t)(row0 + y) * L + l0 + tx]) : 0.f;
            b_tile[y][tx] = (l0 + y < L && col < K) ? __bfloat162float(B[(size_t)(l0 + y) * K + col]) : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int l = 0; l < TILE; ++l) {
            const float b = b_tile[l][tx];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) acc[r] += a_tile[ty + r * STEP][l] * b;
        }
        __syncthreads();
    }

    if (col < K) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int row = row0 + ty + r * STEP;
            if (row < rows) out[(size_t)row * K + col] = __float2bfloat16(acc[r]);
        }
    }
}

void tensor4d_matmul(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* out, int b, int i, int j, int l, int k,
                     cudaStream_t stream = 0) {
    const int rows = b * i * j;
    dim3 block(32, 8);
    dim3 grid((k + 31) / 32, (rows + 31) / 32);
    tensor_matrix_kernel<32, 4><<<grid, block, 0, stream>>>(A, B, out, rows, l, k);
}
