template <bool kVec>
__global__ void __launch_bounds__(kThreads, 3)
selective_scan_kernel(const float* __restrict__ u, const float* __restrict__ delta,
                      const float* __restrict__ A_log, const float* __restrict__ B,
                      const float* __restrict__ C, const float* __restrict__ D,
                      const float* __restrict__ z, const float* __restrict__ delta_bias,
                      float* __restrict__ y, int dim, int len)
{
    extern __shared__ __align__(16) float smem[];
    float* const sB = smem;                                          // [2][kStates][kStatePitch]
    float* const sC = sB + 2 * kStates * kStatePitch;                // [2][kStates][kStatePitch]
    float* const sDt = sC + 2 * kStates * kStatePitch;               // [2][kChannels][kChannelPitch]
    float* const sU = sDt + 2 * kChannels * kChannelPitch;           // [2][kChannels][kChannelPitch]
    float* const sSum = sU + 2 * kChannels * kChannelPitch;          // [2][kChannels][kSumPitch]
    float* const sGate = sSum + 2 * kChannels * kSumPitch;           // [2][kScanThreads][kSteps]

    // Warps 0 to 3 scan: a lane has the states g and g + 8 of channel ch. The lowest bit of the lane and its highest
    // choose the channel, so lanes that differ in bit 0 read the same B and C, and lanes that differ in bit 1 the same
    // dt and u. Warps 4 to 7 help: a lane has steps 4 * g to 4 * g + 3 of channel ch, and of state ch of B and C.
    const bool scans = threadIdx.x < kScanThreads;
    const int tid = threadIdx.x & (kScanThreads - 1);
    const int lane = tid & 31;
    const int g = scans ? (lane >> 1) & (kLanes - 1) : lane & (kLanes - 1);
    const int ch = scans ? (tid >> 5) * 4 + (lane >> 4) * 2 + (lane & 1) : tid >> 3;
    const int b = blockIdx.y;
    const int d = blockIdx.x * kChannels + ch;
    const bool ok = d < dim;
    const int dd = ok ? d : dim - 1;             // idle lanes shadow the last channel
    const unsigned steps = len;
    const int chunks = (len - 1) / kChunk + 1;

    // Scan: the rates of both states. Help: bias and skip.
    float k0, k1;
    if (scans) {
        k0 = decay_rate(A_log[(size_t)dd * kStates + g]);
        k1 = decay_rate(A_log[(size_t)dd * kStates + g + kLanes]);
    } else {
        k0 = delta_bias[dd];
        k1 = D[dd];
    }
    const size_t row = ((size_t)b * dim + dd) * len;
    const size_t state_row = ((size_t)b * kStates + ch) * len;
    const unsigned first = kSteps * g;

    float h0 = 0.f, h1 = 0.f;
    float un[kSteps] = {}, dn[kSteps] = {}, zn[kSteps] = {};
    auto fetch = [&](int chunk) {
        const unsigned t = (unsigned)chunk * kChunk + first;
        fetch_steps<kVec>(un, u + row, t, steps);
        fetch_steps<kVec>(dn, delta + row, t, steps);
        fetch_steps<kVec>(zn, z + row, t, steps);
    };
    auto copy = [&](int chunk) {
        const unsigned t = (unsigned)chunk * kChunk + first;
        const int at = ((chunk & 1) * kStates + ch) * kStatePitch + kSteps * g;
        copy_steps<kVec>(sB + at, B + state_row, t, steps);
        copy_steps<kVec>(sC + at, C + state_row, t, steps);
    };
    auto stage = [&](int chunk) {
        const int at = ((chunk & 1) * kChannels + ch) * kChannelPitch + kSteps * g;
        float dt[kSteps], gate[kSteps];
#pragma unroll
        for (int i = 0; i < kSteps; ++i) {
            const float v = dn[i] + k0;
            dt[i] = v > 20.f ? v : log1pf(expf(v));
            gate[i] = zn[i] / (1.f + expf(-zn[i]));
        }
        store_steps(sDt + at, dt);
        store_steps(sU + at, un);
        store_steps(sGate + ((chunk & 1) * kScanThreads + tid) * kSteps, gate);
    };

    if (!scans) {
        copy(0);
        fetch(0);
        stage(0);
        fetch(1);
        wait_copies<kVec>();
    }
    __syncthreads();

    // Chunk n is scanned while chunk n - 1 is finished and chunk n + 1 is staged.
#pragma unroll 1
    for (int n = 0; n <= chunks; ++n) {
        if (scans) {
            if (n < chunks) {
                const int buf = n & 1;
                const float* const pB = sB + (buf * kStates + g) * kStatePitch;
                const float* const pC = sC + (buf * kStates + g) * kStatePitch;
                const float* const pDt = sDt + (buf * kChannels + ch) * kChannelPitch;
                const float* const pU = sU + (buf * kChannels + ch) * kChannelPitch;
                float* const pSum = sSum + (buf * kChannels + ch) * kSumPitch + g * kLanePitch;
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
                        h0 = decay(dt[i] * k0) * h0 + dt[i] * b0[i] * ut[i];
                        h1 = decay(dt[i] * k1) * h1 + dt[i] * b1[i] * ut[i];
                        p[i] = __fadd_rn(__fmul_rn(c0[i], h0), __fmul_rn(c1[i], h1));
                    }
                    store_steps(pSum + q, p);
                }
            }
        } else {
            if (n + 1 < chunks) copy(n + 1);
            if (n > 0) {
                // Chunk n - 1: its u and gate lie in the buffers that this very thread overwrites below.
                const int buf = (n - 1) & 1;
                float p[kSteps], uc[kSteps], gate[kSteps];
                sum_lanes(p, sSum + (buf * kChannels + ch) * kSumPitch + kSteps * g);
                load_steps(uc, sU + (buf * kChannels + ch) * kChannelPitch + kSteps * g);
                load_steps(gate, sGate + (buf * kScanThreads + tid) * kSteps);
#pragma unroll
                for (int i = 0; i < kSteps; ++i) p[i] = (p[i] + k1 * uc[i]) * gate[i];
                if (ok) put_steps<kVec>(y + row, (unsigned)(n - 1) * kChunk + first, steps, p);
            }
            if (n + 1 < chunks) {
                stage(n + 1);
                fetch(n + 2);                    // flies until the next iteration stages it
            }
            wait_copies<kVec>();
        }
        __syncthreads();                         // buffer n & 1 is free to be staged, sums n & 1 are complete
    }
}
