#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <math.h>

// ------------------------------------------------------------------ causal attention in three kernels
__global__ void qk_causal(const __half* q, const __half* k, float* s, int T, int D, float scale) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= T || j >= T) return;
    size_t bh = blockIdx.z;
    float v = -INFINITY;
    if (j <= i) {
        v = 0.f;
        for (int d = 0; d < D; d++)
            v += __half2float(q[(bh * T + i) * D + d]) * __half2float(k[(bh * T + j) * D + d]);
        v *= scale;
    }
    s[(bh * T + i) * T + j] = v;
}

__global__ void softmax_rows(float* s, int T) {
    __shared__ float red[128];
    float* row = s + (size_t)blockIdx.x * T;
    int t = threadIdx.x;
    float m = -INFINITY;
    for (int j = t; j < T; j += 128) m = fmaxf(m, row[j]);
    red[t] = m;
    __syncthreads();
    for (int o = 64; o > 0; o >>= 1) {
        if (t < o) red[t] = fmaxf(red[t], red[t + o]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();
    float sum = 0.f;
    for (int j = t; j < T; j += 128) {
        float e = expf(row[j] - m);
        row[j] = e;
        sum += e;
    }
    red[t] = sum;
    __syncthreads();
    for (int o = 64; o > 0; o >>= 1) {
        if (t < o) red[t] += red[t + o];
        __syncthreads();
    }
    sum = red[0];
    for (int j = t; j < T; j += 128) row[j] /= sum;
}

__global__ void pv(const float* p, const __half* v, __half* o, int T, int D) {
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    size_t bh = blockIdx.z;
    if (d >= D) return;
    float acc = 0.f;
    for (int j = 0; j < T; j++) acc += p[(bh * T + i) * T + j] * __half2float(v[(bh * T + j) * D + d]);
    o[(bh * T + i) * D + d] = __float2half(acc);
}

extern "C" void causal_attention(const __half* q, const __half* k, const __half* v, __half* o, float* scores, int B, int H, int T,
                                 int D, cudaStream_t stream) {
    dim3 b(32, 8), g((T + 31) / 32, (T + 7) / 8, B * H);
    qk_causal<<<g, b, 0, stream>>>(q, k, scores, T, D, 1.0f / sqrtf((float)D));
    softmax_rows<<<B * H * T, 128, 0, stream>>>(scores, T);
    pv<<<dim3((D + 63) / 64, T, B * H), 64, 0, stream>>>(scores, v, o, T, D);
}

// ------------------------------------------------------------------ multi-query attention, one warp per query head, D <= 128
#define MAX_PER_LANE 4
__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
    return v;
}

__global__ void mqa_kernel(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                           const __nv_bfloat16* __restrict__ v, __nv_bfloat16* __restrict__ o, int B, int T, int H, int S, int D,
                           float scale) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (warp >= B * T * H) return;
    int b = warp / (T * H);
    float qr[MAX_PER_LANE], acc[MAX_PER_LANE];
#pragma unroll
    for (int i = 0; i < MAX_PER_LANE; ++i) {
        int d = lane + 32 * i;
        qr[i] = d < D ? __bfloat162float(q[(size_t)warp * D + d]) * scale : 0.f;
        acc[i] = 0.f;
    }
    float m = -1e30f, l = 0.f;
    for (int s = 0; s < S; ++s) {
        const __nv_bfloat16* kr = k + ((size_t)b * S + s) * D;
        const __nv_bfloat16* vr = v + ((size_t)b * S + s) * D;
        float dot = 0.f;
#pragma unroll
        for (int i = 0; i < MAX_PER_LANE; ++i) {
            int d = lane + 32 * i;
            if (d < D) dot += qr[i] * __bfloat162float(kr[d]);
        }
        dot = warp_sum(dot);
        float mn = fmaxf(m, dot);
        float corr = expf(m - mn);
        float p = expf(dot - mn);
        l = l * corr + p;
        m = mn;
#pragma unroll
        for (int i = 0; i < MAX_PER_LANE; ++i) {
            int d = lane + 32 * i;
            acc[i] = acc[i] * corr + (d < D ? p * __bfloat162float(vr[d]) : 0.f);
        }
    }
#pragma unroll
    for (int i = 0; i < MAX_PER_LANE; ++i) {
        int d = lane + 32 * i;
        if (d < D) o[(size_t)warp * D + d] = __float2bfloat16(acc[i] / l);
    }
}

// q and o: [B, T, H, D]; k and v: [B, S, D], shared by all heads
extern "C" void multi_query_attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* o,
                                      int B, int T, int H, int S, int D) {
    int warps = B * T * H;
    mqa_kernel<<<(warps + 3) / 4, 128>>>(q, k, v, o, B, T, H, S, D, rsqrtf((float)D));
}

// ------------------------------------------------------------------ rotary embedding, then scores
__global__ void rope_kernel(const __half* in, __half* out, int T, int D, float base, long long pairs) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    int half_d = D / 2;
    int d = i % half_d;
    long long row = i / half_d;
    int pos = row % T;
    float angle = pos * powf(base, -2.0f * d / D);
    float s, c;
    sincosf(angle, &s, &c);
    float a = __half2float(in[row * D + d]);
    float b = __half2float(in[row * D + d + half_d]);
    out[row * D + d] = __float2half(a * c - b * s);
    out[row * D + d + half_d] = __float2half(b * c + a * s);
}

#define RT 20
__global__ void scores_kernel(const __half* q, const __half* k, __half* s, int T, int D, float scale) {
    __shared__ float qs[RT][RT + 1], ks[RT][RT + 1];
    int bh = blockIdx.z;
    int i = blockIdx.y * RT + threadIdx.y, j = blockIdx.x * RT + threadIdx.x, jl = blockIdx.x * RT + threadIdx.y;
    float acc = 0;
    for (int d0 = 0; d0 < D; d0 += RT) {
        int d = d0 + threadIdx.x;
        qs[threadIdx.y][threadIdx.x] = (i < T && d < D) ? __half2float(q[((size_t)bh * T + i) * D + d]) : 0.f;
        ks[threadIdx.y][threadIdx.x] = (jl < T && d < D) ? __half2float(k[((size_t)bh * T + jl) * D + d]) : 0.f;
        __syncthreads();
#pragma unroll
        for (int e = 0; e < RT; e++) acc += qs[threadIdx.y][e] * ks[threadIdx.x][e];
        __syncthreads();
    }
    if (i < T && j < T) s[((size_t)bh * T + i) * T + j] = __float2half(acc * scale);
}

extern "C" void rope_scores(const __half* q, const __half* k, __half* scores, __half* qr, __half* kr, int B, int H, int T, int D,
                            float base, cudaStream_t stream) {
    long long pairs = (long long)B * H * T * (D / 2);
    unsigned blocks = (unsigned)((pairs + 255) / 256);
    rope_kernel<<<blocks, 256, 0, stream>>>(q, qr, T, D, base, pairs);
    rope_kernel<<<blocks, 256, 0, stream>>>(k, kr, T, D, base, pairs);
    dim3 grid((T + RT - 1) / RT, (T + RT - 1) / RT, B * H);
    scores_kernel<<<grid, dim3(RT, RT), 0, stream>>>(qr, kr, scores, T, D, 1.0f / sqrtf((float)D));
}
