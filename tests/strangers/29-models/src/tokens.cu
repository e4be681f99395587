#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

__device__ float block_total(float v, float* buf) {
    int t = threadIdx.x;
    buf[t] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) buf[t] += buf[t + s];
        __syncthreads();
    }
    float r = buf[0];
    __syncthreads();
    return r;
}

// ---------------------------------------------------------------- token + position embedding, layer norm
__global__ void embed_ln(const int* __restrict__ ids, const half* __restrict__ wte, const half* __restrict__ wpe,
                         const half* __restrict__ g, const half* __restrict__ b, half* __restrict__ out, int T, int C, float eps) {
    __shared__ float buf[128];
    const int tok = blockIdx.x;
    const half* te = wte + (size_t)ids[tok] * C;
    const half* pe = wpe + (size_t)(tok % T) * C;
    float s = 0.f;
    for (int c = threadIdx.x; c < C; c += blockDim.x) s += __half2float(te[c]) + __half2float(pe[c]);
    float mean = block_total(s, buf) / C;
    float v = 0.f;
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        float d = __half2float(te[c]) + __half2float(pe[c]) - mean;
        v += d * d;
    }
    float inv = 1.0f / sqrtf(block_total(v, buf) / C + eps);
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        float d = __half2float(te[c]) + __half2float(pe[c]) - mean;
        out[(size_t)tok * C + c] = __float2half(d * inv * __half2float(g[c]) + __half2float(b[c]));
    }
}

extern "C" void embedding_layernorm(const int* ids, const half* wte, const half* wpe, const half* gamma, const half* beta, half* out,
                                    int B, int T, int C, int V, float eps, cudaStream_t stream) {
    (void)V;
    embed_ln<<<B * T, 128, 0, stream>>>(ids, wte, wpe, gamma, beta, out, T, C, eps);
}

// ---------------------------------------------------------------- NetVLAD
__global__ void vlad_assign(const half* x, const half* clusters, const half* bias, float* a, int rows, int D, int K) {
    // one thread per feature and cluster; blockDim = (32, 8)
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (k >= K || r >= rows) return;
    float s = __half2float(bias[k]);
    for (int d = 0; d < D; ++d) s += __half2float(x[(size_t)r * D + d]) * __half2float(clusters[(size_t)d * K + k]);
    a[(size_t)r * K + k] = s;
}

__global__ void vlad_softmax(float* a, int rows, int K) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float* p = a + (size_t)r * K;
    float m = p[0], s = 0.f;
    for (int k = 1; k < K; ++k) m = fmaxf(m, p[k]);
    for (int k = 0; k < K; ++k) s += (p[k] = expf(p[k] - m));
    for (int k = 0; k < K; ++k) p[k] /= s;
}

__global__ void vlad_aggregate(const half* x, const float* a, const half* centers, float* vlad, int F, int D, int K) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y;
    if (i >= D * K) return;
    int d = i / K, k = i % K;
    float s = 0.f, mass = 0.f;
    for (int f = 0; f < F; ++f) {
        float w = a[((size_t)b * F + f) * K + k];
        s += w * __half2float(x[((size_t)b * F + f) * D + d]);
        mass += w;
    }
    vlad[(size_t)b * D * K + i] = s - mass * __half2float(centers[i]);
}

// intra-normalization: every cluster's vector to length 1
__global__ void vlad_intra(float* vlad, int D, int K) {
    __shared__ float buf[64];
    float* p = vlad + (size_t)blockIdx.y * D * K + blockIdx.x;
    float s = 0.f;
    for (int d = threadIdx.x; d < D; d += 64) s += p[(size_t)d * K] * p[(size_t)d * K];
    float n = fmaxf(sqrtf(block_total(s, buf)), 1e-12f);
    for (int d = threadIdx.x; d < D; d += 64) p[(size_t)d * K] /= n;
}

__global__ void vlad_final(const float* vlad, half* y, int DK) {
    __shared__ float buf[256];
    const float* p = vlad + (size_t)blockIdx.x * DK;
    float s = 0.f;
    for (int i = threadIdx.x; i < DK; i += 256) s += p[i] * p[i];
    float n = fmaxf(sqrtf(block_total(s, buf)), 1e-12f);
    for (int i = threadIdx.x; i < DK; i += 256) y[(size_t)blockIdx.x * DK + i] = __float2half(p[i] / n);
}

extern "C" void netvlad(const half* x, const half* clusters, const half* bias, const half* centers, half* y, float* assign,
                        float* vlad, int B, int F, int D, int K, cudaStream_t stream) {
    int rows = B * F;
    vlad_assign<<<dim3((K + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(x, clusters, bias, assign, rows, D, K);
    vlad_softmax<<<(rows + 127) / 128, 128, 0, stream>>>(assign, rows, K);
    vlad_aggregate<<<dim3((D * K + 127) / 128, B), 128, 0, stream>>>(x, assign, centers, vlad, F, D, K);
    vlad_intra<<<dim3(K, B), 64, 0, stream>>>(vlad, D, K);
    vlad_final<<<B, 256, 0, stream>>>(vlad, y, D * K);
}
