template <bool kWide, int kSlots>
__global__ void __launch_bounds__(TOPK_THREADS, 5)
topk_rows_kernel(const __nv_bfloat16* __restrict__ scores, __nv_bfloat16* __restrict__ top,
    int* __restrict__ top_idx,
                 int cols, int k)
{
    __shared__ unsigned taken[(TOPK_COLS + 31) / 32];                  // a bit for each column
    __shared__ float red_v[TOPK_THREADS];
    __shared__ int red_i[TOPK_THREADS];
    __shared__ unsigned keys[TOPK_LIST];                               // order, then the lower index first
    __shared__ unsigned short raw[TOPK_LIST];
    __shared__ __align__(16) unsigned warp_key[TOPK_FAST];
    __shared__ int count;

    const int tid = threadIdx.x;
    const __nv_bfloat16* src = scores + (size_t)blockIdx.x * cols;

    // q[i]: elements 8 * (tid + TOPK_THREADS * i) and the 7 after it, -inf beyond the row. Wide rows are read once.
    unsigned q[kSlots][4];
#pragma unroll
    for (int i = 0; i < kSlots; i++) {
        const int e0 = 8 * (tid + TOPK_THREADS * i);
        if (kWide) {
            uint4 v = make_uint4(TOPK_EMPTY, TOPK_EMPTY, TOPK_EMPTY, TOPK_EMPTY);
            if (e0 < cols) v = @LOAD@(reinterpret_cast<const uint4*>(src + e0));
            q[i][0] = v.x;
            q[i][1] = v.y;
            q[i][2] = v.z;
            q[i][3] = v.w;
        } else {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                const int e = e0 + 2 * j;
                const unsigned lo = e < cols ? __bfloat16_as_ushort(src[e]) : TOPK_EMPTY & 0xffffu;
                const unsigned hi = e + 1 < cols ? __bfloat16_as_ushort(src[e + 1]) : TOPK_EMPTY & 0xffffu;
                q[i][j] = lo | hi << 16;
            }
        }
    }

    __nv_bfloat162 most[kSlots];
#pragma unroll
    for (int i = 0; i < kSlots; i++) {
        most[i] = __hmax2_nan(__hmax2_nan(as_pair(q[i][0]), as_pair(q[i][1])),
                              __hmax2_nan(as_pair(q[i][2]), as_pair(q[i][3])));
    }
    __nv_bfloat162 both = most[0];
#pragma unroll
    for (int i = 1; i < kSlots; i++) both = __hmax2_nan(both, most[i]);
    const unsigned own = __bfloat16_as_ushort(__hmax_nan(__low2bfloat16(both), __high2bfloat16(both)));

    const unsigned own_key = (own & 0x7fffu) > 0x7f80u ? 0xffffu : order_of(own);
    const unsigned wk = __reduce_max_sync(0xffffffffu, own_key);
    if (tid % 32 == 0) warp_key[tid / 32] = wk;
    if (tid == 0) count = 0;
    __syncthreads();

    unsigned lowest = warp_key[0];
    unsigned highest = warp_key[0];
#pragma unroll
    for (int w = 1; w < TOPK_FAST; w++) {
        const unsigned key = warp_key[w];
        lowest = key < lowest ? key : lowest;
        highest = key > highest ? key : highest;
    }
    const bool nan = highest > 0xff80u;                                // above +inf
    const float least = __uint_as_float((lowest & 0x8000u ? lowest ^ 0x8000u : ~lowest & 0xffffu) << 16);

    if (!nan && __uint_as_float(own << 16) >= least) {
#pragma unroll
        for (int i = 0; i < kSlots; i++) {
            if (fmaxf(__low2float(most[i]), __high2float(most[i])) >= least) {
                const int e0 = 8 * (tid + TOPK_THREADS * i);
                unsigned hits = 0;
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    if (__uint_as_float(q[i][j] << 16) >= least) hits |= 1u << (2 * j);
                    if (__uint_as_float(q[i][j] & 0xffff0000u) >= least) hits |= 2u << (2 * j);
                }
#pragma unroll 1
                for (; hits; hits &= hits - 1) {
                    const int j = __ffs(hits) - 1;
                    const unsigned word = j & 4 ? (j & 2 ? q[i][3] : q[i][2]) : (j & 2 ? q[i][1] : q[i][0]);
                    const unsigned bits = j & 1 ? word >> 16 : word & 0xffffu;
                    const unsigned order = order_of(bits == 0x8000u ? 0u : bits);   // -0 equals 0
                    if (e0 + j < cols) {                                // -inf beyond the row may be as large
                        const int pos = atomicAdd(&count, 1);
                        if (pos < TOPK_LIST) {
                            raw[pos] = (unsigned short)bits;
                            keys[pos] = order << 16 | (0xffffu - (unsigned)(e0 + j));
                        }
                    }
                }
            }
        }
    }
    __syncthreads();

    const int m = count;
    if (k <= TOPK_FAST && !nan && m <= TOPK_LIST) {
        // All keys differ, so the ranks do not depend on the order of the list.
        for (int c = tid; c < m; c += TOPK_THREADS) {
            const unsigned key = keys[c];
            int rank = 0;
#pragma unroll 4
            for (int j = 0; j < m; j++) rank += keys[j] > key;
            if (rank < k) {
                top[(size_t)blockIdx.x * k + rank] = __ushort_as_bfloat16(raw[c]);
                top_idx[(size_t)blockIdx.x * k + rank] = 0xffff - (int)(key & 0xffffu);
            }
        }
    } else {
        for (int c = tid; c < (TOPK_COLS + 31) / 32; c += TOPK_THREADS) taken[c] = 0;
        __syncthreads();

        for (int t = 0; t < k; t++) {
            float v = 0.f;
            int at = NOTHING;
            for (int c = tid; c < cols; c += TOPK_THREADS) {
                const float here = __bfloat162float(src[c]);
                if (!(taken[c / 32] >> (c % 32) & 1u) && beats(here, c, v, at)) {
                    v = here;
                    at = c;
                }
            }
            red_v[tid] = v;
            red_i[tid] = at;
            __syncthreads();
            for (int half = TOPK_THREADS / 2; half > 0; half >>= 1) {
                if (tid < half && beats(red_v[tid + half], red_i[tid + half], red_v[tid], red_i[tid])) {
                    red_v[tid] = red_v[tid + half];
                    red_i[tid] = red_i[tid + half];
                }
                __syncthreads();
            }
            if (tid == 0) {
                top[(size_t)blockIdx.x * k + t] = src[red_i[0]];
                top_idx[(size_t)blockIdx.x * k + t] = red_i[0];
                taken[red_i[0] / 32] |= 1u << (red_i[0] % 32);
            }
            __syncthreads();
        }
    }
}
