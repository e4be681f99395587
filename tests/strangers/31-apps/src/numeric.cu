#include "../include/gpu_util.h"

/* ---------- recommender: mean-pooled bags, then dot products of all pairs of features ---------- */
__global__ void bag_mean(const __half* tables, const int* ids, const __half* dense, float* feats, int T, int L, int V, int D)
{
    int f = blockIdx.x;      /* feature 0 is the dense one */
    int b = blockIdx.y;
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float v = 0.f;
        if (f == 0) {
            v = __half2float(dense[(size_t)b * D + d]);
        } else {
            const int* bag = ids + ((size_t)b * T + f - 1) * L;
            for (int l = 0; l < L; l++)
                v += __half2float(tables[((size_t)(f - 1) * V + bag[l]) * D + d]);
            v /= L;
        }
        feats[((size_t)b * (T + 1) + f) * D + d] = v;
    }
}

__global__ void pair_dots(const float* feats, float* out, int F, int D, int pairs)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (p >= pairs) return;
    int i = 1, left = p;
    while (left >= i) { left -= i; i++; }     /* row i of the lower triangle has i entries */
    const float* u = feats + ((size_t)b * F + i) * D;
    const float* v = feats + ((size_t)b * F + left) * D;
    float s = 0.f;
    for (int d = 0; d < D; d++) s += u[d] * v[d];
    out[(size_t)b * pairs + p] = s;
}

void dlrm_interaction(const __half* tables, const int* ids, const __half* dense, float* out, float* feats, int B, int T, int L, int V,
                      int D, cudaStream_t stream)
{
    int pairs = T * (T + 1) / 2;
    bag_mean<<<dim3(T + 1, B), 32, 0, stream>>>(tables, ids, dense, feats, T, L, V, D);
    pair_dots<<<dim3((pairs + 63) / 64, B), 64, 0, stream>>>(feats, out, T + 1, D, pairs);
}

/* ---------- heat equation with conductivity per cell, two steps per call, edges stay fixed ---------- */
#define BX 32
#define BY 8
__global__ void heat_step(const float* __restrict__ u, const float* __restrict__ kappa, float* __restrict__ next, int ny, int nx, float dt)
{
    __shared__ float tile[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
    bool inside = x < nx && y < ny;
    if (inside) {
        tile[ly][lx] = u[(size_t)y * nx + x];
        if (threadIdx.x == 0 && x > 0) tile[ly][0] = u[(size_t)y * nx + x - 1];
        if (threadIdx.x == BX - 1 && x + 1 < nx) tile[ly][BX + 1] = u[(size_t)y * nx + x + 1];
        if (threadIdx.y == 0 && y > 0) tile[0][lx] = u[(size_t)(y - 1) * nx + x];
        if (threadIdx.y == BY - 1 && y + 1 < ny) tile[BY + 1][lx] = u[(size_t)(y + 1) * nx + x];
    }
    __syncthreads();
    if (!inside) return;
    float c = tile[ly][lx];
    if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1) {
        float kc = kappa[(size_t)y * nx + x];
        float kw = 0.5f * (kc + kappa[(size_t)y * nx + x - 1]), ke = 0.5f * (kc + kappa[(size_t)y * nx + x + 1]);
        float kn = 0.5f * (kc + kappa[(size_t)(y - 1) * nx + x]), ks = 0.5f * (kc + kappa[(size_t)(y + 1) * nx + x]);
        c += dt * (kw * (tile[ly][lx - 1] - c) + ke * (tile[ly][lx + 1] - c) + kn * (tile[ly - 1][lx] - c) + ks * (tile[ly + 1][lx] - c));
    }
    next[(size_t)y * nx + x] = c;
}

void heat_two_steps(float* u, const float* kappa, float* mid, int ny, int nx, float dt, cudaStream_t stream)
{
    dim3 block(BX, BY), grid((nx + BX - 1) / BX, (ny + BY - 1) / BY);
    heat_step<<<grid, block, 0, stream>>>(u, kappa, mid, ny, nx, dt);
    heat_step<<<grid, block, 0, stream>>>(mid, kappa, u, ny, nx, dt);
}

/* ---------- arithmetic Asian call; the normals are given, [path][4 * quads] ---------- */
__global__ void asian_paths(const float4* normals, float* payoff, int paths, int quads, float s0, float strike, float drift, float vol)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paths) return;
    float logs = 0.f, sum = 0.f;
    for (int q = 0; q < quads; q++) {
        float4 z = normals[(size_t)p * quads + q];
        logs += drift + vol * z.x; sum += expf(logs);
        logs += drift + vol * z.y; sum += expf(logs);
        logs += drift + vol * z.z; sum += expf(logs);
        logs += drift + vol * z.w; sum += expf(logs);
    }
    payoff[p] = fmaxf(s0 * sum / (4 * quads) - strike, 0.f);
}

__global__ void partial_sums(const float* payoff, float* parts, int paths)
{
    float s = 0.f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < paths; i += gridDim.x * 256) s += payoff[i];
    s = block_all<256>(s, AddOp());
    if (threadIdx.x == 0) parts[blockIdx.x] = s;
}

__global__ void finish_price(const float* parts, float* price, int n, float factor)
{
    float s = 0.f;
    for (int i = threadIdx.x; i < n; i += 32) s += parts[i];
    s = warp_all(s, AddOp());
    if (threadIdx.x == 0) *price = s * factor;
}

void asian_call_price(const float4* normals, float* price, float* payoff, float* parts, int paths, int quads, float s0, float strike,
                      float drift, float vol, float discount, cudaStream_t stream)
{
    asian_paths<<<(paths + 127) / 128, 128, 0, stream>>>(normals, payoff, paths, quads, s0, strike, drift, vol);
    partial_sums<<<64, 256, 0, stream>>>(payoff, parts, paths);
    finish_price<<<1, 32, 0, stream>>>(parts, price, 64, discount / paths);
}
