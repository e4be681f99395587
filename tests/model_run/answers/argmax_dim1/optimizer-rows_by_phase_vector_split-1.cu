/* takes v of row m if it is greater than what was found before */
__device__ __forceinline__ void take(float v, int m, float &best, int &at)
{
    if (v > best) { best = v; at = m; }
}

/* the lane's columns j0 ... j0 + 3 of row m, as far as they lie in the tile of tc columns, element by element */
__device__ __forceinline__ void take_row(const __half *row, int j0, int tc, int m, float *best, int *at)
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int j = j0 + k;
        if (j >= 0 && j < tc) take(__half2float(row[j]), m, best[k], at[k]);
    }
}

/* idx[b][n] = argmax over m of x[b][m][n]; the first of equal values wins.
   A block takes at most COLS columns of one b, its warp g the rows g, g + WARPS, ...: since WARPS * N is a multiple of
   4, these begin at the same place modulo 8 bytes, so a lane reads the same 4 columns of each by one aligned word. */
__global__ void __launch_bounds__(TPB, 5) argmax_k(const __half *__restrict__ x, long long *__restrict__ idx,
                                                   int B, int M, int N, int tiles, int T)
{
    __shared__ float sv[WARPS][COLS + 3];
    __shared__ int si[WARPS][COLS + 3];

    const int lane = threadIdx.x & 31;
    const int g = threadIdx.x >> 5;
    const int c0 = (int)(blockIdx.x % tiles) * T;
    const int b = (int)(blockIdx.x / tiles);
    const int tc = min(T, N - c0);
    const size_t row0 = (size_t)b * M;
    const size_t total = (size_t)B * M * N;

    /* how far this warp's rows of the tile begin behind an 8-byte boundary, in halves */
    const int ph = (int)(((size_t)x / 2 + (row0 + g) * N + c0) & 3);
    const int j0 = 4 * lane - ph;

    /* row 0 wins if nothing is greater than -infinity */
    float best[4];
    int at[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        best[k] = __int_as_float(0xff800000);
        at[k] = 0;
    }

    int m = g;
    if (4 * lane < tc + ph) {
        /* the first words would begin before x */
        for (; m < M && (row0 + m) * N + c0 < (size_t)ph; m += WARPS)
            take_row(x + ((row0 + m) * N + c0), j0, tc, m, best, at);

        /* words may hold elements beside the tile, but none behind x */
        const size_t step = (size_t)WARPS * N;
        const __half *p = x + ((row0 + m) * N + c0) + j0;
        size_t end = (row0 + m + (DEPTH - 1) * WARPS) * N + c0 + ((tc + ph + 3) / 4 * 4 - ph);
        for (; m < M - (DEPTH - 1) * WARPS && end <= total; m += DEPTH * WARPS) {
            uint2 q[DEPTH];
#pragma unroll
            for (int u = 0; u < DEPTH; u++) {
                q[u] = *reinterpret_cast<const uint2 *>(p);
                p += step;
            }
#pragma unroll
            for (int u = 0; u < DEPTH; u++) {
                const float2 lo = __half22float2(*reinterpret_cast<const __half2 *>(&q[u].x));
                const float2 hi = __half22float2(*reinterpret_cast<const __half2 *>(&q[u].y));
                take(lo.x, m + u * WARPS, best[0], at[0]);
                take(lo.y, m + u * WARPS, best[1], at[1]);
                take(hi.x, m + u * WARPS, best[2], at[2]);
                take(hi.y, m + u * WARPS, best[3], at[3]);
            }
            end += DEPTH * step;
        }

        for (; m < M; m += WARPS)
            take_row(x + ((row0 + m) * N + c0), j0, tc, m, best, at);
    }

#pragma unroll
    for (int k = 0; k < 4; k++) {
        int j = j0 + k;
        if (j >= 0 && j < tc) {
            sv[g][j] = best[k];
            si[g][j] = at[k];
        }
    }
    __syncthreads();

    const int j = threadIdx.x;
    if (j < tc) {
        float v = sv[0][j];
        int a = si[0][j];
#pragma unroll
        for (int r = 1; r < WARPS; r++) {
            float w = sv[r][j];
            int i = si[r][j];
            if (w > v || (w == v && i < a)) { v = w; a = i; }
        }
        /* nothing is greater than a NaN in row 0 */
        float f = __half2float(x[row0 * N + c0 + j]);
        if (f != f) a = 0;
        idx[(size_t)b * N + c0 + j] = a;
    }
}