constexpr int CM_ROWS = @ROWS@;    // of a warp, in registers
constexpr int CM_WARPS = @WARPS@;  // of a block, one above the other
constexpr int CM_WIDE = @WIDE@;    // adjacent columns of a lane, where sizes and addresses allow it
constexpr int CM_BLOCKS = 64 / (CM_WIDE * CM_WARPS);

// V adjacent halves of a row as one word, and the places of V columns.
template <int V> struct CmWord { typedef unsigned long long type; };
template <> struct CmWord<1> { typedef unsigned short type; };
template <> struct CmWord<2> { typedef unsigned type; };
template <int V> using CmHalf = typename CmWord<V>::type;
template <int V> struct alignas(4 * V) CmInt { int i[V]; };

template <int V>
__device__ __forceinline__ unsigned short cm_column(CmHalf<V> word, int c)
{
    return (unsigned short)(word >> (16 * c));
}

__device__ __forceinline__ bool cm_ge(unsigned short a, unsigned short b)
{
    return __hge(__ushort_as_half(a), __ushort_as_half(b));
}

// The rows of a warp, from x + at on. Those from count on do not exist: they become NaN, which no comparison takes.
template <int V>
__device__ __forceinline__ void cm_load(CmHalf<V> (&rows)[CM_ROWS], const half* __restrict__ x, size_t at, int inner, int count)
{
#pragma unroll
    for (int r = 0; r < CM_ROWS; r++) {
        CmHalf<V> word = (CmHalf<V>)0x7FFF7FFF7FFF7FFFull;
        if (r < count) word = *(const CmHalf<V>*)(x + at + (size_t)r * inner);
        rows[r] = word;
    }
}

// A block walks down 32 * V columns in tiles of CM_WARPS * CM_ROWS rows. Each warp finds the maximum of its rows of the tile, all
// warps put those maxima together with what came before the tile, and each warp then replays its rows from the state above them.
template <int V>
__global__ void __launch_bounds__(32 * CM_WARPS, CM_BLOCKS)
cummax_mid_axis(const half* __restrict__ x, half* __restrict__ values, int* __restrict__ indices, int outer, int len, int inner)
{
    constexpr int T = CM_WARPS * CM_ROWS;
    __shared__ CmHalf<V> s_val[2][CM_WARPS][32];
    __shared__ CmInt<V> s_idx[2][CM_WARPS][32];

    const int tx = threadIdx.x & 31;
    const int w = threadIdx.x >> 5;

    // A lane without columns reads row 0 of the first ones, stores nothing and goes to every barrier.
    size_t g = ((size_t)blockIdx.x * 32 + tx) * V;
    const bool live = g < (size_t)outer * inner;
    if (!live) g = 0;
    const size_t o = g / inner;
    const size_t i = g - o * inner;
    size_t at = o * (size_t)len * inner + i;

    unsigned short cv[V];
    int ci[V];
    const CmHalf<V> first = *(const CmHalf<V>*)(x + at);
#pragma unroll
    for (int c = 0; c < V; c++) {
        cv[c] = cm_column<V>(first, c);
        ci[c] = 0;
    }

    CmHalf<V> cur[CM_ROWS], nxt[CM_ROWS];
    at += (size_t)(w * CM_ROWS) * inner;
    cm_load<V>(cur, x, at, inner, live ? len - w * CM_ROWS : 0);

    int buf = 0;
    for (int left = len; left > 0; left -= T) {
        const int row = len - left + w * CM_ROWS;
        const int count = live ? left - w * CM_ROWS : 0;
        const size_t below = at + (size_t)T * inner;
        cm_load<V>(nxt, x, below, inner, count - T);

        // The last maximum of this warp's rows, -1 if there is none but NaN.
        CmHalf<V> top = 0;
        CmInt<V> top_at;
#pragma unroll
        for (int c = 0; c < V; c++) {
            unsigned short m = 0xFC00;
            int idx = -1;
#pragma unroll
            for (int r = 0; r < CM_ROWS; r++) {
                const unsigned short v = cm_column<V>(cur[r], c);
                if (cm_ge(v, m)) {
                    m = v;
                    idx = row + r;
                }
            }
            top = (CmHalf<V>)(top | (CmHalf<V>)m << (16 * c));
            top_at.i[c] = idx;
        }
        s_val[buf][w][tx] = top;
        s_idx[buf][w][tx] = top_at;
        __syncthreads();

        // best, where: before this warp's rows. cv, ci: after the tile. The other buffer makes one barrier a tile enough.
        unsigned short best[V];
        int where[V];
#pragma unroll
        for (int c = 0; c < V; c++) {
            best[c] = cv[c];
            where[c] = ci[c];
        }
#pragma unroll
        for (int p = 0; p < CM_WARPS; p++) {
            const CmHalf<V> m = s_val[buf][p][tx];
            const CmInt<V> m_at = s_idx[buf][p][tx];
#pragma unroll
            for (int c = 0; c < V; c++) {
                const unsigned short v = cm_column<V>(m, c);
                if (p == w) {
                    best[c] = cv[c];
                    where[c] = ci[c];
                }
                if (m_at.i[c] >= 0 && cm_ge(v, cv[c])) {
                    cv[c] = v;
                    ci[c] = m_at.i[c];
                }
            }
        }

#pragma unroll
        for (int r = 0; r < CM_ROWS; r++) {
            CmHalf<V> out = 0;
            CmInt<V> out_at;
#pragma unroll
            for (int c = 0; c < V; c++) {
                const unsigned short v = cm_column<V>(cur[r], c);
                if (cm_ge(v, best[c])) {
                    best[c] = v;
                    where[c] = row + r;
                }
                out = (CmHalf<V>)(out | (CmHalf<V>)best[c] << (16 * c));
                out_at.i[c] = where[c];
            }
            if (r < count) {
                *(CmHalf<V>*)(values + at + (size_t)r * inner) = out;
                *(CmInt<V>*)(indices + at + (size_t)r * inner) = out_at;
            }
        }

#pragma unroll
        for (int r = 0; r < CM_ROWS; r++) cur[r] = nxt[r];
        at = below;
        buf ^= 1;
    }
}