#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <float.h>

typedef __half h16;
#define F(v) __half2float(v)

// ===== conv2d -> group norm -> scale -> max pool -> clamp =====
__global__ void conv3x3_valid(const h16* x, const h16* w, const h16* b, h16* y, int IC, int OC, int H, int W) {
    int OH = H - 2, OW = W - 2;
    int ow = blockIdx.x * 16 + threadIdx.x;
    int oh = blockIdx.y * 16 + threadIdx.y;
    int n = blockIdx.z / OC;
    int oc = blockIdx.z % OC;
    if (ow >= OW || oh >= OH) return;
    float acc = F(b[oc]);
    for (int ic = 0; ic < IC; ic++) {
        const h16* xi = x + (((size_t)n * IC + ic) * H + oh) * W + ow;
        const h16* wi = w + ((size_t)oc * IC + ic) * 9;
#pragma unroll
        for (int t = 0; t < 9; t++) acc += F(xi[(t / 3) * W + t % 3]) * F(wi[t]);
    }
    y[(((size_t)n * OC + oc) * OH + oh) * OW + ow] = __float2half(acc);
}

__global__ void gn_moments(const h16* x, float* mean, float* rstd, int count, float eps) {
    __shared__ float s1[256], s2[256];
    const h16* p = x + (size_t)blockIdx.x * count;
    float a = 0, b = 0;
    for (int i = threadIdx.x; i < count; i += 256) {
        float v = F(p[i]);
        a += v;
        b += v * v;
    }
    s1[threadIdx.x] = a;
    s2[threadIdx.x] = b;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            s1[threadIdx.x] += s1[threadIdx.x + s];
            s2[threadIdx.x] += s2[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        float m = s1[0] / count;
        mean[blockIdx.x] = m;
        rstd[blockIdx.x] = rsqrtf(fmaxf(s2[0] / count - m * m, 0.f) + eps);
    }
}

__global__ void gn_scale_pool_clamp(const h16* x, const float* mean, const float* rstd, const h16* gamma, const h16* beta,
                                    const h16* scale, h16* y, int N, int OC, int OH, int OW, int G, int P, float lo, float hi) {
    int PH = OH / P, PW = OW / P;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * OC * PH * PW) return;
    int pw = i % PW;
    int ph = i / PW % PH;
    int nc = i / (PW * PH);
    int c = nc % OC;
    int g = nc / OC * G + c / (OC / G);
    float m = mean[g], r = rstd[g], ga = F(gamma[c]), be = F(beta[c]), sc = F(scale[c]);
    float best = -FLT_MAX;
    for (int a = 0; a < P; a++)
        for (int b = 0; b < P; b++) {
            float v = F(x[((size_t)nc * OH + ph * P + a) * OW + pw * P + b]);
            best = fmaxf(best, ((v - m) * r * ga + be) * sc);
        }
    y[i] = __float2half(fminf(fmaxf(best, lo), hi));
}

extern "C" void conv_gn_scale_maxpool_clamp(const h16* x, const h16* w, const h16* b, const h16* gamma, const h16* beta,
                                            const h16* scale, h16* y, h16* conv, float* mean, float* rstd, int N, int IC, int OC,
                                            int H, int W, int G, int P, float eps, float lo, float hi, cudaStream_t stream) {
    int OH = H - 2, OW = W - 2;
    dim3 grid((OW + 15) / 16, (OH + 15) / 16, N * OC);
    conv3x3_valid<<<grid, dim3(16, 16), 0, stream>>>(x, w, b, conv, IC, OC, H, W);
    gn_moments<<<N * G, 256, 0, stream>>>(conv, mean, rstd, OC / G * OH * OW, eps);
    int total = N * OC * (OH / P) * (OW / P);
    gn_scale_pool_clamp<<<(total + 255) / 256, 256, 0, stream>>>(conv, mean, rstd, gamma, beta, scale, y, N, OC, OH, OW, G, P, lo,
                                                                 hi);
}

// ===== linear -> sigmoid -> sum over features -> logsumexp over the batch =====
__global__ void linear_sigmoid_sum(const h16* x, const h16* w, const h16* b, float* s, int K, int NF) {
    extern __shared__ float row[];
    __shared__ float warp_sum[8];
    int m = blockIdx.x;
    for (int k = threadIdx.x; k < K; k += blockDim.x) row[k] = F(x[(size_t)m * K + k]);
    __syncthreads();
    float total = 0.f;
    for (int f = threadIdx.x; f < NF; f += blockDim.x) {
        float z = F(b[f]);
        for (int k = 0; k < K; k++) z += row[k] * F(w[(size_t)f * K + k]);
        total += 1.f / (1.f + expf(-z));
    }
    for (int d = 16; d; d >>= 1) total += __shfl_xor_sync(~0u, total, d);
    if ((threadIdx.x & 31) == 0) warp_sum[threadIdx.x >> 5] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        float t = 0.f;
        for (int i = 0; i < 8; i++) t += warp_sum[i];
        s[m] = t;
    }
}

__global__ void lse_all(const float* s, float* out, int M) {
    float mx = -FLT_MAX;
    for (int i = threadIdx.x; i < M; i += 32) mx = fmaxf(mx, s[i]);
    for (int d = 16; d; d >>= 1) mx = fmaxf(mx, __shfl_xor_sync(~0u, mx, d));
    float e = 0.f;
    for (int i = threadIdx.x; i < M; i += 32) e += expf(s[i] - mx);
    for (int d = 16; d; d >>= 1) e += __shfl_xor_sync(~0u, e, d);
    if (threadIdx.x == 0) *out = mx + logf(e);
}

extern "C" void linear_sigmoid_sum_lse(const h16* x, const h16* w, const h16* b, float* out, float* s, int M, int K, int NF) {
    linear_sigmoid_sum<<<M, 256, K * sizeof(float)>>>(x, w, b, s, K, NF);
    lse_all<<<1, 32>>>(s, out, M);
}

// ===== linear -> swish -> add -> hardtanh, on tensor cores; M, N, K are multiples of 16 =====
__global__ void linear_swish_wmma(const h16* __restrict__ x, const h16* __restrict__ w, const h16* __restrict__ b,
                                  const h16* __restrict__ add, h16* __restrict__ y, int M, int N, int K) {
    using namespace nvcuda::wmma;
    __shared__ __align__(32) float tile[8][256];
    int warp = threadIdx.y;
    int tm = blockIdx.y, tn = blockIdx.x * 8 + warp;
    if (tn * 16 >= N) return;
    fragment<accumulator, 16, 16, 16, float> acc;
    fill_fragment(acc, 0.f);
    for (int k = 0; k < K; k += 16) {
        fragment<matrix_a, 16, 16, 16, h16, row_major> a;
        fragment<matrix_b, 16, 16, 16, h16, col_major> bt;
        load_matrix_sync(a, x + (size_t)tm * 16 * K + k, K);
        load_matrix_sync(bt, w + (size_t)tn * 16 * K + k, K);
        mma_sync(acc, a, bt, acc);
    }
    store_matrix_sync(&tile[warp][0], acc, 16, mem_row_major);
    __syncwarp();
    for (int e = threadIdx.x; e < 256; e += 32) {
        int r = tm * 16 + e / 16, c = tn * 16 + e % 16;
        float z = tile[warp][e] + F(b[c]);
        z = z / (1.f + __expf(-z)) + F(add[c]);
        y[(size_t)r * N + c] = __float2half(fmaxf(-1.f, fminf(1.f, z)));
    }
}

extern "C" void linear_swish_add_hardtanh(const h16* x, const h16* w, const h16* b, const h16* add, h16* y, int M, int N, int K,
                                          cudaStream_t stream) {
    dim3 grid((N / 16 + 7) / 8, M / 16);
    linear_swish_wmma<<<grid, dim3(32, 8), 0, stream>>>(x, w, b, add, y, M, N, K);
}

// ===== transposed conv3d -> softmax over channels -> sigmoid =====
__global__ void convt3d_kernel(const h16* x, const h16* w, const h16* b, h16* y, int N, int IC, int OC, int D, int H, int W, int K,
                               int S, int P, int OD, int OH, int OW) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long total = (long long)N * OC * OD * OH * OW;
    if (i >= total) return;
    long long r = i;
    int ow = r % OW; r /= OW;
    int oh = r % OH; r /= OH;
    int od = r % OD; r /= OD;
    int oc = r % OC;
    int n = r / OC;
    const int vol = D * H * W, k3 = K * K * K;
    float acc = F(b[oc]);
    for (int kd = 0; kd < K; kd++) {
        int d = od + P - kd;
        if (d < 0 || d % S || d / S >= D) continue;
        for (int kh = 0; kh < K; kh++) {
            int h = oh + P - kh;
            if (h < 0 || h % S || h / S >= H) continue;
            for (int kw = 0; kw < K; kw++) {
                int v = ow + P - kw;
                if (v < 0 || v % S || v / S >= W) continue;
                const h16* xp = x + (long long)n * IC * vol + ((d / S) * H + h / S) * W + v / S;
                const h16* wp = w + oc * k3 + (kd * K + kh) * K + kw;
                for (int ic = 0; ic < IC; ic++) acc += F(xp[(long long)ic * vol]) * F(wp[ic * OC * k3]);
            }
        }
    }
    y[i] = __float2half(acc);
}

__global__ void channel_softmax_sigmoid(const h16* t, h16* y, int N, int C, int V) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int n = blockIdx.y;
    if (p >= V) return;
    const h16* a = t + (long long)n * C * V + p;
    h16* o = y + (long long)n * C * V + p;
    float m = F(a[0]);
    for (int c = 1; c < C; c++) m = fmaxf(m, F(a[(long long)c * V]));
    float s = 0;
    for (int c = 0; c < C; c++) s += expf(F(a[(long long)c * V]) - m);
    for (int c = 0; c < C; c++) {
        float q = expf(F(a[(long long)c * V]) - m) / s;
        o[(long long)c * V] = __float2half(1.f / (1.f + expf(-q)));
    }
}

void convt3d_softmax_sigmoid(const h16* x, const h16* w, const h16* b, h16* y, h16* tmp, int N, int IC, int OC, int D, int H, int W,
                             int K, int S, int P, int OP, cudaStream_t stream) {
    int OD = (D - 1) * S - 2 * P + K + OP;
    int OH = (H - 1) * S - 2 * P + K + OP;
    int OW = (W - 1) * S - 2 * P + K + OP;
    long long total = (long long)N * OC * OD * OH * OW;
    convt3d_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(x, w, b, tmp, N, IC, OC, D, H, W, K, S, P, OD, OH, OW);
    int V = OD * OH * OW;
    channel_softmax_sigmoid<<<dim3((V + 127) / 128, N), 128, 0, stream>>>(tmp, y, N, OC, V);
}
