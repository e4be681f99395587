// night 2: causal self attention the long way round. Three kernels and a T x T matrix in memory.
// q, k, v, o: [BH, T, D]   scores: [BH, T, T]; only the lower triangle is ever touched
#include <cuda_fp16.h>
#include <math.h>

#define CDIV(a, b) (((a) + (b) - 1) / (b))

template <int TS>
__global__ void qk_lower(const half* __restrict__ q, const half* __restrict__ k, float* __restrict__ scores,
                         int T, int D, float scale)
{
    if (blockIdx.x > blockIdx.y) return;          // everything in this tile is masked
    __shared__ float qs[TS][TS + 1];
    __shared__ float ks[TS][TS + 1];

    const size_t base = (size_t)blockIdx.z * T * D;
    const int i = blockIdx.y * TS + threadIdx.y;  // query
    const int j = blockIdx.x * TS + threadIdx.x;  // key
    const int jr = blockIdx.x * TS + threadIdx.y; // the key row that this thread loads

    float dot = 0.f;
    for (int d0 = 0; d0 < D; d0 += TS) {
        const int d = d0 + threadIdx.x;
        qs[threadIdx.y][threadIdx.x] = (i < T && d < D) ? __half2float(q[base + (size_t)i * D + d]) : 0.f;
        ks[threadIdx.y][threadIdx.x] = (jr < T && d < D) ? __half2float(k[base + (size_t)jr * D + d]) : 0.f;
        __syncthreads();
#pragma unroll
        for (int t = 0; t < TS; ++t) dot += qs[threadIdx.y][t] * ks[threadIdx.x][t];
        __syncthreads();
    }
    if (i < T && j <= i) scores[((size_t)blockIdx.z * T + i) * T + j] = dot * scale;
}

// one warp per query row
__global__ void softmax_lower(float* scores, int T, int nrows)
{
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= nrows) return;

    float* s = scores + (size_t)row * T;
    const int len = row % T + 1;

    float mx = -INFINITY;
    for (int j = lane; j < len; j += 32) mx = fmaxf(mx, s[j]);
    for (int off = 16; off > 0; off >>= 1) mx = fmaxf(mx, __shfl_xor_sync(0xffffffffu, mx, off));

    float sum = 0.f;
    for (int j = lane; j < len; j += 32) {
        const float e = expf(s[j] - mx);
        s[j] = e;
        sum += e;
    }
    for (int off = 16; off > 0; off >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, off);

    const float inv = 1.f / sum;
    for (int j = lane; j < len; j += 32) s[j] *= inv;
}

template <int TS>
__global__ void pv_lower(const float* __restrict__ p, const half* __restrict__ v, half* __restrict__ o, int T, int D)
{
    __shared__ float ps[TS][TS];
    __shared__ float vs[TS][TS + 1];

    const int i = blockIdx.y * TS + threadIdx.y;
    const int d = blockIdx.x * TS + threadIdx.x;
    const int last = min(T, (int)(blockIdx.y + 1) * TS);

    float acc = 0.f;
    for (int j0 = 0; j0 < last; j0 += TS) {
        const int jc = j0 + threadIdx.x;
        const int jr = j0 + threadIdx.y;
        ps[threadIdx.y][threadIdx.x] = (i < T && jc <= i) ? p[((size_t)blockIdx.z * T + i) * T + jc] : 0.f;
        vs[threadIdx.y][threadIdx.x] = (jr < T && d < D) ? __half2float(v[((size_t)blockIdx.z * T + jr) * D + d]) : 0.f;
        __syncthreads();
#pragma unroll
        for (int t = 0; t < TS; ++t) acc += ps[threadIdx.y][t] * vs[t][threadIdx.x];
        __syncthreads();
    }
    if (i < T && d < D) o[((size_t)blockIdx.z * T + i) * D + d] = __float2half(acc);
}

void attention_causal(const half* q, const half* k, const half* v, float* scores, half* o, int BH, int T, int D,
                      float scale, cudaStream_t st)
{
    constexpr int TS = 16;
    dim3 b(TS, TS);
    qk_lower<TS><<<dim3(CDIV(T, TS), CDIV(T, TS), BH), b, 0, st>>>(q, k, scores, T, D, scale);
    softmax_lower<<<CDIV(BH * T, 4), 128, 0, st>>>(scores, T, BH * T);
    pv_lower<TS><<<dim3(CDIV(D, TS), CDIV(T, TS), BH), b, 0, st>>>(scores, v, o, T, D);
}
