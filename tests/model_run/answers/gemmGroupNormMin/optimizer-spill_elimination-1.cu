template <bool kVec>
__global__ void __launch_bounds__(kThreads, 1)
tiledLinear(float* __restrict__ y, const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
            unsigned rows, unsigned features, unsigned inner, unsigned tilesM) {
    extern __shared__ __align__(16) float tile[];
    constexpr int kWidth = kVec ? 4 : 1;     // floats of a copy
    constexpr int kCopies = kSlab / kWidth;  // copies of a row
    const unsigned m0 = blockIdx.x % tilesM * kTileM, n0 = blockIdx.x / tilesM * kTileN;

    // rows beyond the matrix are copies of its last row, and their results are not stored
    const unsigned copyRow = threadIdx.x / kCopies, copyCol = threadIdx.x % kCopies * kWidth;
    const unsigned rowX = min(m0 + copyRow, rows - 1u), rowW = min(n0 + copyRow, features - 1u);
    const float* fromX = x + (size_t)rowX * inner;
    const float* fromW = w + (size_t)rowW * inner;
    const unsigned limitX = 4u * min(rows - 1u - rowX, (unsigned)kTileM);
    const unsigned limitW = 4u * min(features - 1u - rowW, (unsigned)kTileN);
    const unsigned to = (unsigned)__cvta_generic_to_shared(tile) + 4u * (copyRow * kPitch + copyCol);

    // 4 x 2 warps of 32 x 128 results; neighbouring lanes share rows of w, lanes 2 apart rows of x
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned mLocal = (warp & 3) * 32 + (((lane >> 4) << 1) | (lane & 1));
    const unsigned nLocal = (warp >> 2) * 128 + ((lane >> 1) & 7);

    // accP holds the columns nLocal + 32 * P + 8 * q
    float acc0[8][4], acc1[8][4], acc2[8][4], acc3[8][4];
    startColumns(acc0, bias, n0 + nLocal, features);
    startColumns(acc1, bias, n0 + nLocal + 32u, features);
    startColumns(acc2, bias, n0 + nLocal + 64u, features);
    startColumns(acc3, bias, n0 + nLocal + 96u, features);

    const unsigned slabs = inner / kSlab + (inner % kSlab != 0);
#pragma unroll
    for (unsigned t = 0; t < kStages - 1; ++t) {
        if (t < slabs) {
            copySlab<kVec>(to + t * (4u * kStageFloats), fromX, fromW, limitX, limitW, t * kSlab + copyCol, inner);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    unsigned stage = 0;
#pragma unroll 1
    for (unsigned t = 0; t < slabs; ++t) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();  // slab t is complete, and nobody reads slab t - 1 any more
        if (t + 2 < slabs) {
            const unsigned next = stage == 0 ? kStages - 1 : stage - 1;
            copySlab<kVec>(to + next * (4u * kStageFloats), fromX, fromW, limitX, limitW, (t + 2) * kSlab + copyCol, inner);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");

        const float* as = tile + stage * kStageFloats + mLocal * kPitch;
        const float* bs = tile + stage * kStageFloats + (kTileM + nLocal) * kPitch;
#pragma unroll @UNROLL@
        for (int kk = 0; kk < kSlab; kk += 4) {
            float4 a[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) a[i] = *reinterpret_cast<const float4*>(as + i * 4 * kPitch + kk);
            // the columns of w are loaded one set ahead of their use
            float4 b[4], c[4];
            loadColumns(b, bs + kk);
            loadColumns(c, bs + 32 * kPitch + kk);
            addProducts(acc0, a, b);
            loadColumns(b, bs + 64 * kPitch + kk);
            addProducts(acc1, a, c);
            loadColumns(c, bs + 96 * kPitch + kk);
            addProducts(acc2, a, b);
            addProducts(acc3, a, c);
        }
        stage = stage == kStages - 1 ? 0 : stage + 1;
    }

    storeColumns(acc0, y, m0 + mLocal, n0 + nLocal, rows, features);
    storeColumns(acc1, y, m0 + mLocal, n0 + nLocal + 32u, rows, features);
    storeColumns(acc2, y, m0 + mLocal, n0 + nLocal + 64u, rows, features);
    storeColumns(acc3, y, m0 + mLocal, n0 + nLocal + 96u, rows, features);
}
