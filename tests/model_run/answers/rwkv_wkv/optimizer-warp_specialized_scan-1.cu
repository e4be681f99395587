constexpr int kLanes = 32;              // channels of a block
constexpr int kWarps = @WARPS@;         // one runs the recurrence, the others load and compute y
constexpr int kThreads = kWarps * kLanes;
constexpr int kPer = @STEPS@;           // steps of a tile that one of the other warps takes
constexpr int kTile = (kWarps - 1) * kPer;

// p + t rows of pitch bytes, as one multiply-add of 32 x 32 + 64 bits
__device__ __forceinline__ const __nv_bfloat16* row_of(const __nv_bfloat16* p, unsigned t, unsigned pitch)
{
    unsigned long long at;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(at) : "r"(t), "r"(pitch), "l"(p));
    return reinterpret_cast<const __nv_bfloat16*>(at);
}

// exp(x - max(x, z)) and exp(z - max(x, z)): one of the differences is 0, so their sum is the other one, and one exponential
// is enough; an infinite maximum gives NaN as before
__device__ __forceinline__ float2 weights(float x, float z)
{
    const float q = fmaxf(x, z);
    const float e = expf((x - q) + (z - q));
    return make_float2(x > z ? 1.0f : e, x > z ? e : 1.0f);
}

// In iteration n the scan warp runs the recurrence over tile n - 1 and leaves the state before each step, while the other
// warps load tile n and compute y of tile n - 2.
__global__ void __launch_bounds__(kThreads, 5)
wkv_kernel(const __nv_bfloat16* __restrict__ k, const __nv_bfloat16* __restrict__ v, const __nv_bfloat16* __restrict__ r,
           const float* __restrict__ decay, const float* __restrict__ bonus, float* __restrict__ aa, float* __restrict__ bb,
           float* __restrict__ pp, __nv_bfloat16* __restrict__ y, int B, int T, int C)
{
    __shared__ unsigned skv[2][kTile][kLanes];  // k below, v above
    __shared__ float2 sas[2][kTile][kLanes];    // the state before the step: a and s, p
    __shared__ float sp[2][kTile][kLanes];

    const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    const unsigned total = (unsigned)B * (unsigned)C;
    const unsigned channel = blockIdx.x * kLanes + lane;
    const bool active = channel < total;
    const unsigned i = active ? channel : total - 1u;  // lanes beyond the end repeat the last channel and store nothing
    const unsigned b = i / (unsigned)C;
    const unsigned c = i % (unsigned)C;

    const unsigned steps = T > 0 ? T : 0;
    const unsigned last = steps - 1u;
    const unsigned tiles = steps / kTile + (steps % kTile != 0);
    const unsigned pitch = 2u * (unsigned)C;
    const size_t base = (size_t)b * steps * (unsigned)C + c;
    const __nv_bfloat16* const kb = k + base;
    const __nv_bfloat16* const vb = v + base;
    const __nv_bfloat16* const rb = r + base;
    __nv_bfloat16* const yb = y + base;

    // blocks of one multiprocessor are about 132 apart: their scan warps go to different schedulers
    const unsigned scanWarp = (blockIdx.x >> 7) & 3u;
    const bool scans = warp == scanWarp;
    const unsigned row = (warp - (warp > scanWarp ? 1u : 0u)) * kPer;

    const float wu = scans ? decay[c] : bonus[c];
    float a = 0.0f, s = 0.0f, p = 0.0f;
    if (scans) {
        a = aa[i];
        s = bb[i];
        p = pp[i];
    }
    __nv_bfloat16 rr[kPer];

#pragma unroll 1
    for (unsigned n = 0; n < tiles + 2u; n++) {
        if (scans) {
            if (n >= 1u && n <= tiles) {
                const unsigned slot = (n - 1u) & 1u;
#pragma unroll 1
                for (int j0 = 0; j0 < kTile; j0 += kPer) {
                    unsigned kv[kPer];
#pragma unroll
                    for (int j = 0; j < kPer; j++)
                        kv[j] = skv[slot][j0 + j][lane];
#pragma unroll
                    for (int j = 0; j < kPer; j++) {
                        const float kt = __uint_as_float(kv[j] << 16);
                        const float vt = __uint_as_float(kv[j] & 0xffff0000u);
                        sas[slot][j0 + j][lane] = make_float2(a, s);
                        sp[slot][j0 + j][lane] = p;

                        const float pw = p + wu;
                        const float2 e = weights(pw, kt);
                        a = e.x * a + e.y * vt;
                        s = e.x * s + e.y;
                        p = fmaxf(pw, kt);
                    }
                }
            }
        } else {
            __nv_bfloat16 kr[kPer], vr[kPer];
            if (n < tiles) {
#pragma unroll
                for (int j = 0; j < kPer; j++) {
                    const unsigned t = min(n * kTile + row + j, last);
                    kr[j] = __ldg(row_of(kb, t, pitch));
                    vr[j] = __ldg(row_of(vb, t, pitch));
                }
            }
            if (n >= 2u) {
                const unsigned slot = n & 1u;
                const unsigned t0 = (n - 2u) * kTile + row;
#pragma unroll
                for (int j = 0; j < kPer; j++) {
                    const unsigned t = t0 + j;
                    if (t < steps) {
                        const unsigned kv = skv[slot][row + j][lane];
                        const float2 as = sas[slot][row + j][lane];
                        const float2 e = weights(sp[slot][row + j][lane], wu + __uint_as_float(kv << 16));
                        const float vt = __uint_as_float(kv & 0xffff0000u);
                        const float wkv = (e.x * as.x + e.y * vt) / (e.x * as.y + e.y);
                        const float out = wkv / (1.0f + expf(-__bfloat162float(rr[j])));
                        if (active)
                            *reinterpret_cast<__nv_bfloat16*>(reinterpret_cast<char*>(yb) + (size_t)t * pitch) = __float2bfloat16(out);
                    }
                }
            }
            if (n >= 1u && n <= tiles) {
                // for the next iteration; after the old ones are used, so that they need no second set of registers
#pragma unroll
                for (int j = 0; j < kPer; j++)
                    rr[j] = __ldg(row_of(rb, min((n - 1u) * kTile + row + j, last), pitch));
            }
            if (n < tiles) {
                // only this thread has read this row and lane of tile n - 2 in this iteration
#pragma unroll
                for (int j = 0; j < kPer; j++)
                    skv[n & 1u][row + j][lane] = (unsigned)__bfloat16_as_ushort(vr[j]) << 16 | __bfloat16_as_ushort(kr[j]);
            }
        }
        __syncthreads();
    }

    if (scans) {
        // the last tile was scanned beyond its end: the final state is the one before the first step that does not exist
        const unsigned rest = steps % kTile;
        if (rest != 0u) {
            const unsigned slot = (tiles - 1u) & 1u;
            a = sas[slot][rest][lane].x;
            s = sas[slot][rest][lane].y;
            p = sp[slot][rest][lane];
        }
        if (active) {
            aa[i] = a;
            bb[i] = s;
            pp[i] = p;
        }
    }
}