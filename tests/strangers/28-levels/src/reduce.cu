// Reductions, scans, pools, a norm and a loss
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

#define SCAN_THREADS 256

// out[b][i] = sum of x[b][j] over j >= i where mask[b][j] is set
__global__ void reverse_masked_cumsum_kernel(const float* x, const unsigned char* mask, float* out, int L) {
    __shared__ float buf[SCAN_THREADS];
    const size_t base = (size_t)blockIdx.x * L;
    const int t = threadIdx.x;
    float carry = 0.f;
    for (int start = 0; start < L; start += SCAN_THREADS) {
        int r = start + t;              // position counted from the end
        int i = L - 1 - r;
        float v = 0.f;
        if (r < L && mask[base + i]) v = x[base + i];
        buf[t] = v;
        __syncthreads();
        for (int off = 1; off < SCAN_THREADS; off <<= 1) {
            float add = t >= off ? buf[t - off] : 0.f;
            __syncthreads();
            buf[t] += add;
            __syncthreads();
        }
        if (r < L) out[base + i] = carry + buf[t];
        carry += buf[SCAN_THREADS - 1];
        __syncthreads();
    }
}

extern "C" void reverse_masked_cumsum(const float* x, const unsigned char* mask, float* out, int B, int L) {
    reverse_masked_cumsum_kernel<<<B, SCAN_THREADS>>>(x, mask, out, L);
}

// index of the smallest element along the middle dimension; the first of equal ones
__global__ void argmin_mid_kernel(const __half* x, long long* idx, int B, int R, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * C) return;
    int b = i / C, c = i % C;
    const __half* p = x + (size_t)b * R * C + c;
    float best = __half2float(p[0]);
    int at = 0;
    for (int r = 1; r < R; r++) {
        float v = __half2float(p[(size_t)r * C]);
        if (v < best) { best = v; at = r; }
    }
    idx[i] = at;
}

extern "C" void argmin_mid(const __half* x, long long* idx, int B, int R, int C, cudaStream_t stream) {
    argmin_mid_kernel<<<(B * C + 63) / 64, 64, 0, stream>>>(x, idx, B, R, C);
}

// RMS norm over the channels of an NCHW tensor, one thread per pixel
__global__ void rmsnorm_channels_kernel(const half* __restrict__ x, const half* __restrict__ gamma, half* __restrict__ y, int N,
                                        int C, int HW, float eps) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)N * HW) return;
    long long n = i / HW, p = i - n * HW;
    const half* xp = x + n * C * HW + p;
    half* yp = y + n * C * HW + p;
    float ss = 0.f;
    for (int c = 0; c < C; ++c) {
        float v = __half2float(xp[(long long)c * HW]);
        ss += v * v;
    }
    float inv = 1.0f / sqrtf(ss / C + eps);
    for (int c = 0; c < C; ++c)
        yp[(long long)c * HW] = __float2half(__half2float(xp[(long long)c * HW]) * inv * __half2float(gamma[c]));
}

extern "C" void rmsnorm_channels(const half* x, const half* gamma, half* y, int N, int C, int H, int W, float eps) {
    long long n = (long long)N * H * W;
    rmsnorm_channels_kernel<<<(unsigned)((n + 255) / 256), 256>>>(x, gamma, y, N, C, H * W, eps);
}

// max pooling with padding and dilation
__global__ void maxpool_kernel(const half* x, half* y, int H, int W, int OH, int OW, int K, int S, int P, int D, long long total) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= total) return;
    int ow = (int)(i % OW);
    int oh = (int)(i / OW % OH);
    long long plane = i / ((long long)OW * OH);
    float m = -INFINITY;
    for (int a = 0; a < K; ++a) {
        for (int b = 0; b < K; ++b) {
            int ih = oh * S - P + a * D;
            int iw = ow * S - P + b * D;
            if (ih >= 0 && ih < H && iw >= 0 && iw < W) m = fmaxf(m, __half2float(x[(plane * H + ih) * W + iw]));
        }
    }
    y[i] = __float2half(m);
}

extern "C" void maxpool2d_dilated(const half* x, half* y, int N, int C, int H, int W, int K, int S, int P, int D,
                                  cudaStream_t stream) {
    int OH = (H + 2 * P - D * (K - 1) - 1) / S + 1;
    int OW = (W + 2 * P - D * (K - 1) - 1) / S + 1;
    long long total = (long long)N * C * OH * OW;
    maxpool_kernel<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(x, y, H, W, OH, OW, K, S, P, D, total);
}

// triplet margin loss with p = 2, mean over the batch; one thread per row
__device__ float pair_distance(const half* a, const half* b, int D) {
    float s = 0.f;
    for (int d = 0; d < D; d++) {
        float t = __half2float(a[d]) - __half2float(b[d]) + 1e-6f;
        s += t * t;
    }
    return sqrtf(s);
}

__global__ void triplet_kernel(const half* anchor, const half* pos, const half* neg, float* loss, int B, int D, float margin) {
    __shared__ float part[4];
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    float l = 0.f;
    if (b < B) {
        size_t o = (size_t)b * D;
        l = fmaxf(pair_distance(anchor + o, pos + o, D) - pair_distance(anchor + o, neg + o, D) + margin, 0.f);
    }
    for (int o = 16; o > 0; o >>= 1) l += __shfl_down_sync(0xffffffffu, l, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = l;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(loss, (part[0] + part[1] + part[2] + part[3]) / B);
}

extern "C" void triplet_margin(const half* anchor, const half* pos, const half* neg, float* loss, int B, int D, float margin,
                               cudaStream_t stream) {
    cudaMemsetAsync(loss, 0, sizeof(float), stream);
    triplet_kernel<<<(B + 127) / 128, 128, 0, stream>>>(anchor, pos, neg, loss, B, D, margin);
}
