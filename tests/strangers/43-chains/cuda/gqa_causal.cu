// Causal attention with grouped keys and values (GQA): scores, softmax, weighted sum. fp16 in and out, fp32 scores.
#include <cuda_fp16.h>
#include <math.h>

constexpr int QT = 16;

__global__ void qk_causal(const __half* __restrict__ q, const __half* __restrict__ k, float* __restrict__ scores,
                          int heads, int kv_heads, int len, int dim, float scale) {
    if (blockIdx.x > blockIdx.y) return;  // tile lies entirely in the future
    __shared__ float sq[QT][QT + 1];
    __shared__ float sk[QT][QT + 1];
    const int bh = blockIdx.z;
    const int kvh = bh / heads * kv_heads + bh % heads / (heads / kv_heads);
    const __half* qp = q + (size_t)bh * len * dim;
    const __half* kp = k + (size_t)kvh * len * dim;
    const int i0 = blockIdx.y * QT, j0 = blockIdx.x * QT;

    float dot = 0.f;
    for (int d0 = 0; d0 < dim; d0 += QT) {
        const int d = d0 + threadIdx.x;
        const int qi = i0 + threadIdx.y, kj = j0 + threadIdx.y;
        sq[threadIdx.y][threadIdx.x] = (qi < len && d < dim) ? __half2float(qp[(size_t)qi * dim + d]) : 0.f;
        sk[threadIdx.y][threadIdx.x] = (kj < len && d < dim) ? __half2float(kp[(size_t)kj * dim + d]) : 0.f;
        __syncthreads();
#pragma unroll
        for (int e = 0; e < QT; ++e) dot += sq[threadIdx.y][e] * sk[threadIdx.x][e];
        __syncthreads();
    }
    const int i = i0 + threadIdx.y, j = j0 + threadIdx.x;
    if (i < len && j <= i) scores[((size_t)bh * len + i) * len + j] = dot * scale;
}

__global__ void softmax_prefix(float* __restrict__ scores, int len) {
    __shared__ float red[4];
    const int i = blockIdx.x;
    float* row = scores + ((size_t)blockIdx.y * len + i) * len;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

    float m = -INFINITY;
    for (int j = threadIdx.x; j <= i; j += 128) m = fmaxf(m, row[j]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (lane == 0) red[warp] = m;
    __syncthreads();
    m = fmaxf(fmaxf(red[0], red[1]), fmaxf(red[2], red[3]));
    __syncthreads();

    float s = 0.f;
    for (int j = threadIdx.x; j <= i; j += 128) {
        const float e = expf(row[j] - m);
        row[j] = e;
        s += e;
    }
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (lane == 0) red[warp] = s;
    __syncthreads();
    const float inv = 1.f / (red[0] + red[1] + red[2] + red[3]);
    for (int j = threadIdx.x; j <= i; j += 128) row[j] *= inv;
}

__global__ void pv_causal(const float* __restrict__ p, const __half* __restrict__ v, __half* __restrict__ o, int heads,
                          int kv_heads, int len, int dim) {
    const int d = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (d >= dim || i >= len) return;
    const int bh = blockIdx.z;
    const int kvh = bh / heads * kv_heads + bh % heads / (heads / kv_heads);
    const float* row = p + ((size_t)bh * len + i) * len;
    const __half* vp = v + (size_t)kvh * len * dim + d;
    float acc = 0.f;
    for (int j = 0; j <= i; ++j) acc += row[j] * __half2float(vp[(size_t)j * dim]);
    o[((size_t)bh * len + i) * dim + d] = __float2half(acc);
}

void gqa_causal_attention(const __half* q, const __half* k, const __half* v, float* scores, __half* o, int batch,
                          int heads, int kv_heads, int len, int dim, float scale) {
    const int tiles = (len + QT - 1) / QT;
    qk_causal<<<dim3(tiles, tiles, batch * heads), dim3(QT, QT)>>>(q, k, scores, heads, kv_heads, len, dim, scale);
    softmax_prefix<<<dim3(len, batch * heads), 128>>>(scores, len);
    pv_causal<<<dim3((dim + 31) / 32, (len + 7) / 8, batch * heads), dim3(32, 8)>>>(scores, v, o, heads, kv_heads,
                                                                                    len, dim);
}
