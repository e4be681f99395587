__device__ __forceinline__ void copy16(unsigned short* to, const __nv_bfloat16* from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}

// y of one step and channel from the state before it
__device__ __forceinline__ float gated(float a, float s, float p, float u, float kt, float vt, float rt)
{
    const float2 e = weights(p, u + kt);
    const float wkv = (e.x * a + e.y * vt) / (e.x * s + e.y);
    return wkv / (1.0f + exp_of(-rt));
}

__device__ __forceinline__ float low_of(unsigned pair)
{
    return __uint_as_float(pair << 16);
}

__device__ __forceinline__ float high_of(unsigned pair)
{
    return __uint_as_float(pair & 0xffff0000u);
}

// In iteration n the scan warp runs the recurrence over tile n and leaves the state before each step, while the other
// warps copy tile n + 1 to shared memory and compute y of tile n - 1. kVec: rows and addresses are multiples of 16 bytes.
template <bool kVec>
__global__ void __launch_bounds__(kThreads, 5)
wkv_kernel(const __nv_bfloat16* __restrict__ k, const __nv_bfloat16* __restrict__ v, const __nv_bfloat16* __restrict__ r,
           const float* __restrict__ decay, const float* __restrict__ bonus, float* __restrict__ aa,
               float* __restrict__ bb,
           float* __restrict__ pp, __nv_bfloat16* __restrict__ y, int B, int T, int C)
{
    __shared__ __align__(16) unsigned short sx[3][3][kRows][kLanes];  // ring of tiles; k, v, r as in global memory
    __shared__ __align__(16) float2 sas[2][kRows][kLanes];            // the state before the step: a and s, p
    __shared__ __align__(16) float sp[2][kRows][kLanes];

    const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    const unsigned total = (unsigned)B * (unsigned)C;
    const unsigned width = (unsigned)C;
    const unsigned first = blockIdx.x * kLanes;
    const unsigned i = min(first + lane, total - 1u);  // lanes beyond the end repeat the last channel and store nothing

    const unsigned steps = T > 0 ? T : 0;
    const unsigned last = steps - 1u;
    const unsigned tiles = steps / kRows + (steps % kRows != 0);
    const unsigned pitch = 2u * width;

    // blocks of one multiprocessor are about 132 apart: their scan warps go to different schedulers
    const unsigned scanWarp = (blockIdx.x >> 7) & 3u;
    const bool scans = warp == scanWarp;
    const unsigned worker = warp - (warp > scanWarp ? 1u : 0u);
    const unsigned wt = worker * kLanes + lane;
    const unsigned row0 = worker * kRowsPer;

    // outputs: a lane computes the channels o and o + 1 of every second row
    const unsigned o = first + 2u * (lane & 15u);
    const unsigned odd = lane >> 4;

    float a = 0.0f, s = 0.0f, p = 0.0f;
    float wu, wu1 = 0.0f;
    const __nv_bfloat16* kp = k;
    const __nv_bfloat16* vp = v;
    const __nv_bfloat16* rp = r;
    __nv_bfloat16* y0 = y;
    __nv_bfloat16* y1 = y;
    if (scans) {
        wu = decay[i % width];
        a = aa[i];
        s = bb[i];
        p = pp[i];
    } else {
        const unsigned from = kVec ? min(first + (wt & 3u) * 8u, total - 8u) : i;
        const size_t base = (size_t)(from / width) * steps * width + from % width;
        kp = k + base;
        vp = v + base;
        rp = r + base;
        const unsigned i0 = min(o, total - 1u), i1 = min(o + 1u, total - 1u);
        wu = bonus[i0 % width];
        wu1 = bonus[i1 % width];
        y0 = y + ((size_t)(i0 / width) * steps * width + i0 % width);
        y1 = y + ((size_t)(i1 / width) * steps * width + i1 % width);
    }

    // rows beyond the end repeat the last one, so that all of a slot is written
    auto copy = [&](unsigned tile, unsigned slot) {
        if constexpr (kVec) {
            if (wt < kRows * 4u) {
                const unsigned row = wt >> 2, at = (wt & 3u) * 8u;
                const unsigned t = min(tile * kRows + row, last);
                copy16(&sx[slot][0][row][at], row_of(kp, t, pitch));
                copy16(&sx[slot][1][row][at], row_of(vp, t, pitch));
                copy16(&sx[slot][2][row][at], row_of(rp, t, pitch));
            }
        } else {
#pragma unroll
            for (int j = 0; j < kRowsPer; j++) {
                const unsigned t = min(tile * kRows + row0 + j, last);
                sx[slot][0][row0 + j][lane] = __bfloat16_as_ushort(__ldg(row_of(kp, t, pitch)));
                sx[slot][1][row0 + j][lane] = __bfloat16_as_ushort(__ldg(row_of(vp, t, pitch)));
                sx[slot][2][row0 + j][lane] = __bfloat16_as_ushort(__ldg(row_of(rp, t, pitch)));
            }
        }
    };

    if (!scans && tiles > 0u)
        copy(0u, 0u);
    if constexpr (kVec)
        asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();

    unsigned before = 2u, now = 0u, next = 1u;  // the slots of the tiles n - 1, n, n + 1
#pragma unroll 1
    for (unsigned n = 0; n <= tiles; n++) {
        if (scans) {
            if (n < tiles) {
                const unsigned buf = n & 1u;
#pragma unroll 1
                for (int j0 = 0; j0 < kRows; j0 += kRowsPer) {
                    float kt[kRowsPer], vt[kRowsPer];
#pragma unroll
                    for (int j = 0; j < kRowsPer; j++) {
                        kt[j] = low_of(sx[now][0][j0 + j][lane]);
                        vt[j] = low_of(sx[now][1][j0 + j][lane]);
                    }
#pragma unroll
                    for (int j = 0; j < kRowsPer; j++) {
                        sas[buf][j0 + j][lane] = make_float2(a, s);
                        sp[buf][j0 + j][lane] = p;

                        const float pw = p + wu;
                        const float2 e = weights(pw, kt[j]);
                        a = e.x * a + e.y * vt[j];
                        s = e.x * s + e.y;
                        p = fmaxf(pw, kt[j]);
                    }
                }
            }
        } else {
            if (n + 1u < tiles)
                copy(n + 1u, next);
            if (n >= 1u) {
                const unsigned buf = (n - 1u) & 1u;
                const unsigned at = 2u * (lane & 15u);
#pragma unroll
                for (int j = 0; j < kRowsPer / 2; j++) {
                    const unsigned row = row0 + 2 * j + odd;
                    const unsigned t = (n - 1u) * kRows + row;
                    const unsigned k2 = *reinterpret_cast<const unsigned*>(&sx[before][0][row][at]);
                    const unsigned v2 = *reinterpret_cast<const unsigned*>(&sx[before][1][row][at]);
                    const unsigned r2 = *reinterpret_cast<const unsigned*>(&sx[before][2][row][at]);
                    const float4 as = *reinterpret_cast<const float4*>(&sas[buf][row][at]);
                    const float2 p2 = *reinterpret_cast<const float2*>(&sp[buf][row][at]);
                    const float out0 = gated(as.x, as.y, p2.x, wu, low_of(k2), low_of(v2), low_of(r2));
                    const float out1 = gated(as.z, as.w, p2.y, wu1, high_of(k2), high_of(v2), high_of(r2));
                    const size_t to = (size_t)t * pitch;
                    if constexpr (kVec) {
                        if (t < steps && o < total)
                            *reinterpret_cast<__nv_bfloat162*>(reinterpret_cast<char*>(y0) + to) =
                                __floats2bfloat162_rn(out0, out1);
                    } else {
                        if (t < steps && o < total)
                            *reinterpret_cast<__nv_bfloat16*>(reinterpret_cast<char*>(y0) + to) = __float2bfloat16(out0);
                        if (t < steps && o + 1u < total)
                            *reinterpret_cast<__nv_bfloat16*>(reinterpret_cast<char*>(y1) + to) = __float2bfloat16(out1);
                    }
                }
            }
            if constexpr (kVec)
                asm volatile("cp.async.wait_all;" ::: "memory");
        }
        __syncthreads();
        const unsigned spare = before;
        before = now;
        now = next;
        next = spare;
    }

    if (scans) {
        // the last tile was scanned beyond its end: the final state is the one before the first step that does not exist
        const unsigned rest = steps % kRows;
        if (rest != 0u) {
            const unsigned buf = (tiles - 1u) & 1u;
            a = sas[buf][rest][lane].x;
            s = sas[buf][rest][lane].y;
            p = sp[buf][rest][lane];
        }
        if (first + lane < total) {
            aa[i] = a;
            bb[i] = s;
            pp[i] = p;
        }
    }
}