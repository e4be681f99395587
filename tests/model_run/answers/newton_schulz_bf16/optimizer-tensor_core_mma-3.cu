// or, with kAxpby, A = alpha D + beta X X^T for a symmetric D.   X: M x N, D and A: M x M
// A block computes one 64 x 64 tile on or above the diagonal. Warps 0 to 3 take the first half of each stage's depth, warps
// 4 to 7 the other half, each 32 x 32 results.
template <bool kVec, bool kAxpby>
__global__ void __launch_bounds__(kThreads, 2)
syrk(const bf16* __restrict__ X, const bf16* __restrict__ D, bf16* __restrict__ A, int M, int N, float alpha, float beta)
{
    extern __shared__ uint4 tile_memory[];
    constexpr unsigned kRows = 64 * 8, kStage = 2 * kRows, kPitch = 65;

    // the tiles of the diagonal come first, then the others, row by row
    const unsigned tiles = ((unsigned)M + 63) / 64;
    unsigned ti = blockIdx.x, tj = blockIdx.x;
    if (blockIdx.x >= tiles) {
        unsigned id = blockIdx.x - tiles;
        ti = 0;
        while (id >= tiles - 1 - ti) {
            id -= tiles - 1 - ti;
            ++ti;
        }
        tj = ti + 1 + id;
    }
    const bool diagonal = ti == tj;
    const unsigned r0 = ti * 64, c0 = tj * 64;
    const unsigned second = diagonal ? 0u : kRows;

    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned m0 = warp / 2 % 2 * 32, n0 = warp % 2 * 32;
    const unsigned row_a = m0 + lane % 16, row_b = n0 + lane / 16 * 8 + lane % 8;
    const unsigned chunk_a = warp / 4 * 4 + lane / 16, chunk_b = warp / 4 * 4 + lane / 8 % 2;
    // in chunks from the start of a stage, for the first and the second k16 slice of this warp
    const unsigned from_a[2] = {row_a * 8 + (chunk_a ^ (lane & 7)), row_a * 8 + ((chunk_a + 2) ^ (lane & 7))};
    const unsigned from_b[2] = {second + row_b * 8 + (chunk_b ^ (lane & 7)),
                                second + row_b * 8 + ((chunk_b + 2) ^ (lane & 7))};

    float acc[2][4][4] = {};
    unsigned fa[2][2][4], fb[2][2][4];
    const unsigned depth = ((unsigned)N + 63) / 64;

    // Stages behind the last one are filled with zeros.
#pragma unroll 1
    for (unsigned kt = 0; kt < 3; ++kt) {
        uint4* stage = tile_memory + kt * kStage;
        load_tile<kVec, 8, 0, 2>(stage, X, r0, M, kt * 64, N);
        if (!diagonal) load_tile<kVec, 8, 0, 2>(stage + kRows, X, c0, M, kt * 64, N);
        commit_copies();
    }
    wait_copies<2>();
    __syncthreads();
#pragma unroll
    for (unsigned m = 0; m < 2; ++m) load_matrices(fa[0][m], tile_memory + from_a[0] + m * 128);
#pragma unroll
    for (unsigned n = 0; n < 2; ++n) load_matrices(fb[0][n], tile_memory + from_b[0] + n * 128);

#pragma unroll 1
    for (unsigned kt = 0; kt < depth; ++kt) {
        uint4* stage = tile_memory + (kt + 3) % 4 * kStage;
        load_tile<kVec, 8, 0, 2>(stage, X, r0, M, (kt + 3) * 64, N);
        if (!diagonal) load_tile<kVec, 8, 0, 2>(stage + kRows, X, c0, M, (kt + 3) * 64, N);
        commit_copies();
        // The operands of the next slice are loaded before this one is multiplied. The barrier comes when all have loaded
        // the last slice of stage kt, so the next round may overwrite it.
#pragma unroll
        for (unsigned s = 0; s < 2; ++s) {
            const uint4* from = tile_memory + (kt + s) % 4 * kStage;
            if (s == 1) {
                wait_copies<2>();
                __syncthreads();
            }
#pragma unroll
            for (unsigned m = 0; m < 2; ++m) load_matrices(fa[1 - s][m], from + from_a[1 - s] + m * 128);
#pragma unroll
            for (unsigned n = 0; n < 2; ++n) load_matrices(fb[1 - s][n], from + from_b[1 - s] + n * 128);
#pragma unroll
            for (unsigned m = 0; m < 2; ++m)
#pragma unroll
                for (unsigned n = 0; n < 4; ++n)
                    multiply_add(acc[m][n], fa[s][m], fb[s][n / 2][n % 2 * 2], fb[s][n / 2][n % 2 * 2 + 1]);
        }
    }

    // A thread stores a chunk in each half of the tile and then, mirrored, one in each half of its transpose.
    const unsigned row = threadIdx.x / 8, col = threadIdx.x % 8 * 8;
    uint4 d[4];
    if constexpr (kAxpby) {
#pragma unroll
        for (unsigned i = 0; i < 4; ++i)
            d[i] = fetch<kVec>(D, (i < 2 ? r0 : c0) + row + i % 2 * 32, M, (i < 2 ? c0 : r0) + col, M);
    }

    wait_copies<0>();
    __syncthreads();
    float* sums = reinterpret_cast<float*>(tile_memory);
    float* mine = sums + (m0 + lane / 4) * kPitch + n0 + lane % 4 * 2;
    if (warp >= 4) {
#pragma unroll
        for (unsigned m = 0; m < 2; ++m)
#pragma unroll
            for (unsigned n = 0; n < 4; ++n)
#pragma unroll
                for (unsigned i = 0; i < 4; ++i)
                    mine[(m * 16 + i / 2 * 8) * kPitch + n * 8 + i % 2] = acc[m][n][i];
    }
    __syncthreads();
    if (warp < 4) {
#pragma unroll
        for (unsigned m = 0; m < 2; ++m)
#pragma unroll
            for (unsigned n = 0; n < 4; ++n)
#pragma unroll
                for (unsigned i = 0; i < 4; ++i)
                    mine[(m * 16 + i / 2 * 8) * kPitch + n * 8 + i % 2] += acc[m][n][i];
    }
    __syncthreads();

#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
        if (i >= 2 && diagonal) break;
        const unsigned r = row + i % 2 * 32;
        float s[8];
#pragma unroll
        for (unsigned k = 0; k < 8; ++k) {
            // below the diagonal: what stands above it
            const bool swap = i >= 2 || (diagonal && col + k < r);
            s[k] = sums[swap ? (col + k) * kPitch + r : r * kPitch + col + k];
        }
        if constexpr (kAxpby) axpby(s, d[i], alpha, beta);
        put<kVec>(A, (i < 2 ? r0 : c0) + r, M, (i < 2 ? c0 : r0) + col, M, s);
    }
}
