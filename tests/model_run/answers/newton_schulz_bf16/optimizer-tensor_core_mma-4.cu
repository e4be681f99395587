// A block computes a 128 x 256 tile, each of its 2 x 4 warps 64 x 64 of it.
template <bool kVec>
__global__ void __launch_bounds__(kThreads, 1)
gemm_axpby(const bf16* __restrict__ P, const bf16* __restrict__ Q, const bf16* __restrict__ D, bf16* __restrict__ Y, int M,
           int N, int K, float alpha, float beta)
{
    extern __shared__ uint4 tile_memory[];
    constexpr unsigned kRows = 128 * 8, kStage = kRows + 64 * 32, kPitch = 264;

    const unsigned mt = ((unsigned)M + 127) / 128;
    const unsigned r0 = blockIdx.x % mt * 128, c0 = blockIdx.x / mt * 256;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned m0 = warp / 4 * 64, n0 = warp % 4 * 64;
    const unsigned line = lane % 16, side = lane / 16, twist = lane % 8;
    const unsigned from_p = (m0 + line) * 8, from_q = kRows + line * 32;

    float acc[4][8][4] = {};
    unsigned fa[2][4][4], fb[2][4][4];
    const unsigned depth = ((unsigned)K + 63) / 64;

    // Stages behind the last one are filled with zeros.
#pragma unroll 1
    for (unsigned kt = 0; kt < 3; ++kt) {
        uint4* stage = tile_memory + kt * kStage;
        load_tile<kVec, 8, 0, 4>(stage, P, r0, M, kt * 64, K);
        load_tile<kVec, 32, 0, 4>(stage + kRows, Q, kt * 64, K, c0, N);
        load_tile<kVec, 32, 4, 8>(stage + kRows, Q, kt * 64, K, c0, N);
        commit_copies();
    }
    wait_copies<2>();
    __syncthreads();
#pragma unroll
    for (unsigned m = 0; m < 4; ++m) load_matrices(fa[0][m], tile_memory + from_p + m * 128 + (side ^ twist));
#pragma unroll
    for (unsigned n = 0; n < 4; ++n)
        load_matrices_transposed(fb[0][n], tile_memory + from_q + ((n0 / 8 + n * 2 + side) ^ twist));

#pragma unroll 1
    for (unsigned kt = 0; kt < depth; ++kt) {
        uint4* stage = tile_memory + (kt + 3) % 4 * kStage;
        const unsigned k0 = (kt + 3) * 64;
        // The operands of the next slice are loaded before this one is multiplied. The barrier comes when all have loaded
        // the last slice of stage kt, so the next round may overwrite it.
#pragma unroll
        for (unsigned s = 0; s < 4; ++s) {
            const unsigned next = (s + 1) % 4, into = next % 2, now = s % 2;
            const uint4* from = tile_memory + (s < 3 ? kt : kt + 1) % 4 * kStage;
            if (s == 3) {
                wait_copies<2>();
                __syncthreads();
            }
#pragma unroll
            for (unsigned m = 0; m < 4; ++m)
                load_matrices(fa[into][m], from + from_p + m * 128 + ((next * 2 + side) ^ twist));
#pragma unroll
            for (unsigned n = 0; n < 4; ++n)
                load_matrices_transposed(fb[into][n],
                                         from + from_q + next * 512 + ((n0 / 8 + n * 2 + side) ^ twist));
            if (s == 0) load_tile<kVec, 8, 0, 4>(stage, P, r0, M, k0, K);
            if (s == 1) load_tile<kVec, 32, 0, 4>(stage + kRows, Q, k0, K, c0, N);
            if (s == 2) {
                load_tile<kVec, 32, 4, 8>(stage + kRows, Q, k0, K, c0, N);
                commit_copies();
            }
#pragma unroll
            for (unsigned m = 0; m < 4; ++m)
#pragma unroll
                for (unsigned n = 0; n < 8; ++n)
                    multiply_add(acc[m][n], fa[now][m], fb[now][n / 2][n % 2 * 2], fb[now][n / 2][n % 2 * 2 + 1]);
        }
    }

    // Through shared memory, so that a warp stores whole rows. Eight rows of D are on their way at a time.
    wait_copies<0>();
    __syncthreads();
    float* sums = reinterpret_cast<float*>(tile_memory);
#pragma unroll
    for (unsigned m = 0; m < 4; ++m)
#pragma unroll
        for (unsigned n = 0; n < 8; ++n) {
            float* to = sums + (m0 + m * 16 + lane / 4) * kPitch + n0 + n * 8 + lane % 4 * 2;
            *reinterpret_cast<float2*>(to) = make_float2(acc[m][n][0], acc[m][n][1]);
            *reinterpret_cast<float2*>(to + 8 * kPitch) = make_float2(acc[m][n][2], acc[m][n][3]);
        }
    const unsigned col = lane * 8;
    uint4 d[8];
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) d[i] = fetch<kVec>(D, r0 + warp + i * 8, M, c0 + col, N);
    __syncthreads();
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
        if (h == 1) {
#pragma unroll
            for (unsigned i = 0; i < 8; ++i) d[i] = fetch<kVec>(D, r0 + 64 + warp + i * 8, M, c0 + col, N);
        }
#pragma unroll
        for (unsigned i = 0; i < 8; ++i) {
            const unsigned r = h * 64 + warp + i * 8;
            const float4 low = *reinterpret_cast<const float4*>(sums + r * kPitch + col);
            const float4 high = *reinterpret_cast<const float4*>(sums + r * kPitch + col + 4);
            float s[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
            axpby(s, d[i], alpha, beta);
            put<kVec>(Y, r0 + r, M, c0 + col, N, s);
        }
    }
}
