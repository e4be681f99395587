constexpr int kChunk = 32;                       // steps that a block stages at once
constexpr int kLanes = 8;                        // lanes of a channel, each with two states
constexpr int kChannels = 16;                    // channels of a block
constexpr int kThreads = kLanes * kChannels;
constexpr int kSteps = kChunk / kLanes;          // steps of a chunk whose softplus, gate and y a lane computes
constexpr int kStatePitch = kChunk + 4;          // eight rows of states lie in different banks for float4
constexpr int kChannelPitch = kChunk + 8;        // four channels by eight steps are stored without conflicts
constexpr bool kBase2 = @BASE2@;                 // decay as a power of two, log2(e) is part of the rate

// The factor of dt in the exponent of the decay. It stays finite where exp(A_log) does, since dt may be 0.
__device__ __forceinline__ float decay_rate(float a_log)
{
    const float a = -expf(a_log);
    const float scaled = a * (kBase2 ? 1.4426950408889634f : 1.f);
    return scaled < -3.402823466e+38f ? a : scaled;
}

__device__ __forceinline__ float decay(float x)
{
    return kBase2 ? exp2f(x) : expf(x);
}

// Eight steps from shared memory, `from` lies at a multiple of 16 bytes.
__device__ __forceinline__ void load_steps(float (&v)[kLanes], const float* from)
{
    const float4 lo = reinterpret_cast<const float4*>(from)[0];
    const float4 hi = reinterpret_cast<const float4*>(from)[1];
    v[0] = lo.x;
    v[1] = lo.y;
    v[2] = lo.z;
    v[3] = lo.w;
    v[4] = hi.x;
    v[5] = hi.y;
    v[6] = hi.z;
    v[7] = hi.w;
}

// One level of the sum over the lanes of a channel: a lane keeps M of its 2 * M steps and gives the others away.
// The lanes g and g ^ M of a channel are 2 * M lanes of the warp apart.
template <int M>
__device__ __forceinline__ void reduce_scatter(float (&p)[kLanes], int g)
{
    const bool up = (g & M) != 0;
#pragma unroll
    for (int i = 0; i < M; ++i) {
        const float keep = up ? p[i + M] : p[i];
        const float send = up ? p[i] : p[i + M];
        p[i] = keep + __shfl_xor_sync(0xffffffffu, send, 2 * M);
    }
}

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

    // The lowest bit of the lane and its highest choose the channel, the three between them the states g and g + 8:
    // so lanes that differ in bit 0 read the same B and C, and lanes that differ in bit 1 the same dt and u.
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int g = (lane >> 1) & (kLanes - 1);
    const int ch = warp * 4 + (lane >> 4) * 2 + (lane & 1);
    const int b = blockIdx.y;
    const int d = blockIdx.x * kChannels + ch;
    const bool ok = d < dim;
    const int dd = ok ? d : dim - 1;             // idle lanes shadow the last channel, shuffles need them

    const float a0 = decay_rate(A_log[(size_t)dd * kStates + g]);
    const float a1 = decay_rate(A_log[(size_t)dd * kStates + g + kLanes]);
    const float skip = D[dd];
    const float bias = delta_bias[dd];
    const size_t row = ((size_t)b * dim + dd) * len;

    // What the thread stages of a chunk: steps g, g + 8, ... of its channel, step `lane` of states warp, warp + 4, ...
    const float* Bp = B + ((size_t)b * kStates + warp) * len;
    const float* Cp = C + ((size_t)b * kStates + warp) * len;
    float un[kSteps], dn[kSteps], zn[kSteps], bn[4], cn[4];
    auto load = [&](int t0) {
#pragma unroll
        for (int j = 0; j < kSteps; ++j) {
            const int t = t0 + j * kLanes + g;
            const bool in = t < len;
            un[j] = in ? u[row + t] : 0.f;
            dn[j] = in ? delta[row + t] : 0.f;
            zn[j] = in ? z[row + t] : 0.f;
        }
        const int tb = t0 + lane;
        const bool inb = tb < len;
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            bn[r] = inb ? Bp[(size_t)(4 * r) * len + tb] : 0.f;
            cn[r] = inb ? Cp[(size_t)(4 * r) * len + tb] : 0.f;
        }
    };

    float h0 = 0.f, h1 = 0.f;
    load(0);
    for (int t0 = 0, buf = 0; t0 < len; t0 += kChunk, buf ^= 1) {
        float uc[kSteps], gate[kSteps];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            sB[buf][warp + 4 * r][lane] = bn[r];
            sC[buf][warp + 4 * r][lane] = cn[r];
        }
#pragma unroll
        for (int j = 0; j < kSteps; ++j) {
            const float v = dn[j] + bias;
            sDt[buf][ch][j * kLanes + g] = v > 20.f ? v : log1pf(expf(v));
            sU[buf][ch][j * kLanes + g] = un[j];
            uc[j] = un[j];
            gate[j] = zn[j] / (1.f + expf(-zn[j]));
        }
        __syncthreads();                         // the only one: the other buffer was read before the last barrier
        load(t0 + kChunk);                       // flies while this chunk is computed

#pragma unroll
        for (int q = 0; q < kSteps; ++q) {
            float dt[kLanes], ut[kLanes], b0[kLanes], b1[kLanes], c0[kLanes], c1[kLanes], p[kLanes];
            load_steps(dt, &sDt[buf][ch][q * kLanes]);
            load_steps(ut, &sU[buf][ch][q * kLanes]);
            load_steps(b0, &sB[buf][g][q * kLanes]);
            load_steps(b1, &sB[buf][g + kLanes][q * kLanes]);
            load_steps(c0, &sC[buf][g][q * kLanes]);
            load_steps(c1, &sC[buf][g + kLanes][q * kLanes]);
#pragma unroll
            for (int i = 0; i < kLanes; ++i) {
                h0 = decay(dt[i] * a0) * h0 + dt[i] * b0[i] * ut[i];
                h1 = decay(dt[i] * a1) * h1 + dt[i] * b1[i] * ut[i];
                p[i] = __fadd_rn(__fmul_rn(c0[i], h0), __fmul_rn(c1[i], h1));
            }
            reduce_scatter<4>(p, g);
            reduce_scatter<2>(p, g);
            reduce_scatter<1>(p, g);
            const int t = t0 + q * kLanes + g;
            if (ok && t < len) y[row + t] = (p[0] + skip * uc[q]) * gate[q];
        }
    }
}