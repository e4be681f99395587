constexpr int HEAT_COLS = 120;        /* columns that a warp writes: lanes 1 to 30, four each */
constexpr int HEAT_ROWS = 212;        /* rows that a warp writes */
constexpr int HEAT_AHEAD = @AHEAD@;   /* rows that are loaded ahead */
constexpr int HEAT_SHIFT = @SHIFT@;   /* the strips start this far left of column 0: with 4 the saved bands are whole sectors */

/* keeps what tiles need of their neighbours: rows edge-2 to edge+1 of each border of chunks, 8 columns around each border of strips */
__global__ void __launch_bounds__(256) heat_save(const float* __restrict__ u, float* __restrict__ mid, int ny, int nx, int strips)
{
    const int y = blockIdx.x, t = (y + 2) % HEAT_ROWS, edge = y + 2 - t;
    const size_t o = (size_t)y * nx;
    if (t < 4 && edge > 0 && edge < ny) {
        #pragma unroll 4
        for (int x = threadIdx.x; x < nx; x += 256) mid[o + x] = u[o + x];
    } else {
        const int n = (strips - 1) * 8;
        #pragma unroll 4
        for (int q = threadIdx.x; q < n; q += 256) {
            const int x = (q / 8 + 1) * HEAT_COLS - HEAT_SHIFT - 4 + q % 8;
            if (x < nx) mid[o + x] = u[o + x];
        }
    }
}

/* four columns from x on of a row, o is the offset of the first; zeros outside of the array */
template <bool VEC>
__device__ __forceinline__ void heat_load(const float* u, const float* __restrict__ kappa, long long o, bool row, int x, int nx, float cu[4], float ck[4])
{
    if constexpr (VEC) {
        float4 a = make_float4(0.f, 0.f, 0.f, 0.f), b = a;
        if (row && x >= 0 && x < nx) {
            a = *(const float4*)(u + o);
            b = __ldg((const float4*)(kappa + o));
        }
        cu[0] = a.x; cu[1] = a.y; cu[2] = a.z; cu[3] = a.w;
        ck[0] = b.x; ck[1] = b.y; ck[2] = b.z; ck[3] = b.w;
    } else {
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
            const bool in = row && x + k >= 0 && x + k < nx;
            cu[k] = in ? u[o + k] : 0.f;
            ck[k] = in ? __ldg(kappa + o + k) : 0.f;
        }
    }
}

/* one step of the four cells c of a lane; e: conductances of their five vertical faces, kn and ks: of the faces above and below;
   dn: differences to the row above, then those that the row below needs */
__device__ __forceinline__ void heat_cells(const float c[4], const float below[4], const float e[5], const float kn[4], const float ks[4], float dn[4],
                                           bool edgeRow, const bool edge[4], float dt, float next[4])
{
    float d[5];
    d[4] = __shfl_down_sync(~0u, c[0], 1) - c[3];
    #pragma unroll
    for (int k = 0; k < 3; ++k) d[k + 1] = c[k + 1] - c[k];
    d[0] = __shfl_up_sync(~0u, d[4], 1);
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float ds = below[k] - c[k];
        float s = e[k + 1] * d[k + 1];
        s = fmaf(e[k], -d[k], s);
        s = fmaf(kn[k], -dn[k], s);
        s = fmaf(ks[k], ds, s);
        next[k] = edgeRow || edge[k] ? c[k] : fmaf(dt, s, c[k]);
        dn[k] = ds;
    }
}

/* both steps in place: a warp marches down its tile with the rows in registers, step 1 for row r, step 2 for row r - 1.
   A tile reads only its own elements of u, what it needs of others comes from mid. */
template <bool VEC>
__global__ void __launch_bounds__(128, 5) heat_fused(float* u, const float* __restrict__ kappa, const float* mid, int ny, int nx, float dt, int strips, unsigned units)
{
    const int lane = threadIdx.x & 31;
    const unsigned unit = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (unit >= units) return;
    const int strip = unit % (unsigned)strips, chunk = unit / (unsigned)strips;
    const int x = strip * HEAT_COLS - HEAT_SHIFT - 4 + lane * 4;
    const int y0 = chunk * HEAT_ROWS, y1 = min(y0 + HEAT_ROWS, ny), last = min(y1 + 1, ny - 1);
    const bool own = lane >= 1 && lane <= 30;
    const float* in = own ? u : mid;

    bool edge[4];
    float U[4], K[4], v1[4], e1[5], s1[4], s2[4], dn1[4], dn2[4];
    float pu[HEAT_AHEAD][4], pk[HEAT_AHEAD][4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        edge[k] = x + k <= 0 || x + k >= nx - 1;
        v1[k] = e1[k] = s1[k] = s2[k] = dn1[k] = dn2[k] = 0.f;
    }
    e1[4] = 0.f;

    long long ahead = (long long)(y0 - 2) * nx + x, back = ahead - nx;   /* the next row to load, the row to store */
    heat_load<VEC>(mid, kappa, ahead, y0 >= 2, x, nx, U, K);
    ahead += nx;
    #pragma unroll
    for (int d = 0; d < HEAT_AHEAD; ++d) {
        const int y = y0 - 1 + d;
        heat_load<VEC>(y >= y0 && y < y1 ? in : mid, kappa, ahead, y >= 0 && y <= last, x, nx, pu[d], pk[d]);
        ahead += nx;
    }

    for (int r = y0 - 2; r <= y1; r += HEAT_AHEAD) {
        #pragma unroll
        for (int d = 0; d < HEAT_AHEAD; ++d) {     /* rows after y1 load and store nothing */
            const int rr = r + d, y = rr + 1 + HEAT_AHEAD;
            float Un[4], Kn[4], e[5], s[4], v[4], w[4];
            #pragma unroll
            for (int k = 0; k < 4; ++k) { Un[k] = pu[d][k]; Kn[k] = pk[d][k]; }
            heat_load<VEC>(y >= y0 && y < y1 ? in : mid, kappa, ahead, y >= 0 && y <= last, x, nx, pu[d], pk[d]);
            ahead += nx;

            e[4] = 0.5f * (K[3] + __shfl_down_sync(~0u, K[0], 1));
            e[0] = __shfl_up_sync(~0u, e[4], 1);
            #pragma unroll
            for (int k = 0; k < 3; ++k) e[k + 1] = 0.5f * (K[k] + K[k + 1]);
            #pragma unroll
            for (int k = 0; k < 4; ++k) s[k] = 0.5f * (K[k] + Kn[k]);

            heat_cells(U, Un, e, s1, s, dn1, rr <= 0 || rr >= ny - 1, edge, dt, v);
            heat_cells(v1, v, e1, s2, s1, dn2, rr <= 1 || rr >= ny, edge, dt, w);

            if (own && rr > y0 && rr <= y1) {
                if constexpr (VEC) {
                    if (x >= 0 && x < nx) *(float4*)(u + back) = make_float4(w[0], w[1], w[2], w[3]);
                } else {
                    #pragma unroll
                    for (int k = 0; k < 4; ++k)
                        if (x + k >= 0 && x + k < nx) u[back + k] = w[k];
                }
            }
            back += nx;

            #pragma unroll
            for (int k = 0; k < 4; ++k) {
                U[k] = Un[k]; K[k] = Kn[k];
                v1[k] = v[k];
                s2[k] = s1[k]; s1[k] = s[k];
                e1[k] = e[k];
            }
            e1[4] = e[4];
        }
    }
}

void heat_two_steps(float* u, const float* kappa, float* mid, int ny, int nx, float dt, cudaStream_t stream)
{
    const int strips = nx > 0 ? (nx + HEAT_SHIFT - 1) / HEAT_COLS + 1 : 0;
    const int chunks = ny > 0 ? (ny - 1) / HEAT_ROWS + 1 : 0;
    const size_t units = (size_t)strips * chunks;
    const unsigned blocks = (unsigned)((units + 3) / 4);
    const bool vec = ((size_t)u | (size_t)kappa | (size_t)mid) % 16 == 0 && nx % 4 == 0;
    if (units > 1) heat_save<<<ny, 256, 0, stream>>>(u, mid, ny, nx, strips);
    if (vec) heat_fused<true><<<blocks, 128, 0, stream>>>(u, kappa, mid, ny, nx, dt, strips, (unsigned)units);
    else heat_fused<false><<<blocks, 128, 0, stream>>>(u, kappa, mid, ny, nx, dt, strips, (unsigned)units);
}