template <bool kVec>
__global__ void __launch_bounds__(kThreads, 3)
selective_scan_kernel(const float* __restrict__ u, const float* __restrict__ delta,
                      const float* __restrict__ A_log, const float* __restrict__ B,
                      const float* __restrict__ C, const float* __restrict__ D,
                      const float* __restrict__ z, const float* __restrict__ delta_bias,
                      float* __restrict__ y, int dim, int len)
{
    __shared__ __align__(16) float sB[2][kStates][kStatePitch];
    __shared__ __align__(16) float sC[2][kStates][kStatePitch];
    __shared__ __align__(16) float sDt[2][kChannels][kChannelPitch];
    __shared__ __align__(16) float sU[2][kChannels][kChannelPitch];
    __shared__ __align__(16) float sSum[kChannels * kSumPitch];

    // Scan: the lowest bit of the lane and its highest choose the channel, the three between them the states g and
    // g + 8: so lanes that differ in bit 0 read the same B and C, and lanes that differ in bit 1 the same dt and u.
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int g = (lane >> 1) & (kLanes - 1);
    const int ch = warp * 4 + (lane >> 4) * 2 + (lane & 1);
    // Staging and results: steps 4 * grp to 4 * grp + 3 of channel sch, and of state sch of B and C. The channels
    // that a warp stages and finishes are those that it scans.
    const int grp = threadIdx.x & (kLanes - 1);
    const int sch = threadIdx.x >> 3;
    const int at = kSteps * grp;

    const int b = blockIdx.y;
    const int d = blockIdx.x * kChannels + ch;
    const int dd = d < dim ? d : dim - 1;        // idle lanes shadow the last channel
    const int sd = blockIdx.x * kChannels + sch;
    const bool ok = sd < dim;
    const int sdd = ok ? sd : dim - 1;
    const unsigned steps = len;

    const float a0 = decay_rate(A_log[(size_t)dd * kStates + g]);
    const float a1 = decay_rate(A_log[(size_t)dd * kStates + g + kLanes]);
    const float skip = D[sdd];
    const float bias = delta_bias[sdd];
    const size_t row = ((size_t)b * dim + sdd) * len;
    const size_t state_row = ((size_t)b * kStates + sch) * len;

    float un[kSteps], dn[kSteps], zn[kSteps];
    auto fetch = [&](unsigned t0) {
        fetch_steps<kVec>(un, u + row, t0 + at, steps);
        fetch_steps<kVec>(dn, delta + row, t0 + at, steps);
        fetch_steps<kVec>(zn, z + row, t0 + at, steps);
    };
    auto copy = [&](unsigned t0, int to) {
        copy_steps<kVec>(&sB[to][sch][at], B + state_row, t0 + at, steps);
        copy_steps<kVec>(&sC[to][sch][at], C + state_row, t0 + at, steps);
    };

    float h0 = 0.f, h1 = 0.f;
    copy(0, 0);
    fetch(0);
    int buf = 0;
#pragma unroll 1
    for (unsigned t0 = 0; t0 < steps; t0 += kChunk, buf ^= 1) {
        float dtn[kSteps], uc[kSteps], gate[kSteps];
#pragma unroll
        for (int i = 0; i < kSteps; ++i) {
            const float v = dn[i] + bias;
            dtn[i] = v > 20.f ? v : log1pf(expf(v));
            uc[i] = un[i];
            gate[i] = zn[i] / (1.f + expf(-zn[i]));
        }
        store_steps(&sDt[buf][sch][at], dtn);
        store_steps(&sU[buf][sch][at], uc);
        wait_copies<kVec>();
        __syncthreads();                         // the only one: the other buffer was read before it
        if (t0 + kChunk < steps) {               // flies while this chunk is computed
            copy(t0 + kChunk, buf ^ 1);
            fetch(t0 + kChunk);
        }

        const float* const pB = &sB[buf][g][0];
        const float* const pC = &sC[buf][g][0];
        const float* const pDt = &sDt[buf][ch][0];
        const float* const pU = &sU[buf][ch][0];
        float* const pSum = sSum + ch * kSumPitch + g * kLanePitch;
#pragma unroll @UNROLL@
        for (int q = 0; q < kChunk; q += kSteps) {
            float dt[kSteps], ut[kSteps], b0[kSteps], b1[kSteps], c0[kSteps], c1[kSteps], p[kSteps];
            load_steps(dt, pDt + q);
            load_steps(ut, pU + q);
            load_steps(b0, pB + q);
            load_steps(b1, pB + kLanes * kStatePitch + q);
            load_steps(c0, pC + q);
            load_steps(c1, pC + kLanes * kStatePitch + q);
#pragma unroll
            for (int i = 0; i < kSteps; ++i) {
                h0 = decay(dt[i] * a0) * h0 + dt[i] * b0[i] * ut[i];
                h1 = decay(dt[i] * a1) * h1 + dt[i] * b1[i] * ut[i];
                p[i] = __fadd_rn(__fmul_rn(c0[i], h0), __fmul_rn(c1[i], h1));
            }
            store_steps(pSum + q, p);
        }
        __syncwarp();                            // only lanes of this warp touch the sums of its channels

        float s[kSteps];
        sum_lanes(s, sSum + sch * kSumPitch + at);
#pragma unroll
        for (int i = 0; i < kSteps; ++i) s[i] = (s[i] + skip * uc[i]) * gate[i];
        if (ok) put_steps<kVec>(y + row, t0 + at, steps, s);
    }
}
