#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

template <typename T> __device__ __forceinline__ float to_f(T v);
template <> __device__ __forceinline__ float to_f<float>(float v) { return v; }
template <> __device__ __forceinline__ float to_f<__half>(__half v) { return __half2float(v); }
template <> __device__ __forceinline__ float to_f<__nv_bfloat16>(__nv_bfloat16 v) { return __bfloat162float(v); }
template <typename T> __device__ __forceinline__ T from_f(float v);
template <> __device__ __forceinline__ float from_f<float>(float v) { return v; }
template <> __device__ __forceinline__ __half from_f<__half>(float v) { return __float2half(v); }
template <> __device__ __forceinline__ __nv_bfloat16 from_f<__nv_bfloat16>(float v) { return __float2bfloat16(v); }

// ---------------------------------------------------------------- conv1d, stride and dilation, no padding
template <typename T>
__global__ void conv1d_kernel(const T* __restrict__ x, const T* __restrict__ w, const T* __restrict__ b, T* __restrict__ y,
                              int IC, int OC, int L, int K, int LO, int stride, int dilation) {
    int lo = blockIdx.x * blockDim.x + threadIdx.x;
    int oc = blockIdx.y;
    int n = blockIdx.z;
    if (lo >= LO) return;
    float acc = to_f(b[oc]);
    const T* xp = x + (size_t)n * IC * L + lo * stride;
    const T* wp = w + (size_t)oc * IC * K;
    for (int ic = 0; ic < IC; ++ic)
        for (int k = 0; k < K; ++k)
            acc += to_f(xp[(size_t)ic * L + k * dilation]) * to_f(wp[ic * K + k]);
    y[((size_t)n * OC + oc) * LO + lo] = from_f<T>(acc);
}

extern "C" void conv1d_dilated(const __nv_bfloat16* x, const __nv_bfloat16* w, const __nv_bfloat16* b, __nv_bfloat16* y,
                               int N, int IC, int OC, int L, int K, int stride, int dilation, cudaStream_t stream) {
    int LO = (L - dilation * (K - 1) - 1) / stride + 1;
    dim3 grid(CEIL_DIV(LO, 192), OC, N);
    conv1d_kernel<__nv_bfloat16><<<grid, 192, 0, stream>>>(x, w, b, y, IC, OC, L, K, LO, stride, dilation);
}

// ---------------------------------------------------------------- depthwise, everything asymmetric
struct DwShape {
    int N, C, H, W, KH, KW, SH, SW, PH, PW, DH, DW, OH, OW;
};

__global__ void depthwise_kernel(const __half* x, const __half* w, __half* y, DwShape s) {
    long long total = (long long)s.N * s.C * s.OH * s.OW;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (long long)gridDim.x * blockDim.x) {
        int ow = i % s.OW;
        int oh = (i / s.OW) % s.OH;
        int c = (i / ((long long)s.OW * s.OH)) % s.C;
        long long nc = i / ((long long)s.OW * s.OH);
        float sum = 0;
        for (int kh = 0; kh < s.KH; kh++) {
            int ih = oh * s.SH - s.PH + kh * s.DH;
            if (ih < 0 || ih >= s.H) continue;
            for (int kw = 0; kw < s.KW; kw++) {
                int iw = ow * s.SW - s.PW + kw * s.DW;
                if (iw < 0 || iw >= s.W) continue;
                sum += __half2float(x[(nc * s.H + ih) * s.W + iw]) * __half2float(w[(c * s.KH + kh) * s.KW + kw]);
            }
        }
        y[i] = __float2half(sum);
    }
}

extern "C" void depthwise_asym(const __half* x, const __half* w, __half* y, int N, int C, int H, int W, int KH, int KW,
                               int SH, int SW, int PH, int PW, int DH, int DW) {
    DwShape s = {N, C, H, W, KH, KW, SH, SW, PH, PW, DH, DW, 0, 0};
    s.OH = (H + 2 * PH - DH * (KH - 1) - 1) / SH + 1;
    s.OW = (W + 2 * PW - DW * (KW - 1) - 1) / SW + 1;
    long long total = (long long)N * C * s.OH * s.OW;
    long long blocks = CEIL_DIV(total, 256);
    if (blocks > 65535) blocks = 65535;
    depthwise_kernel<<<(int)blocks, 256>>>(x, w, y, s);
}

// ---------------------------------------------------------------- conv3d with groups and a box-shaped kernel
__global__ void conv3d_grouped_kernel(const __half* __restrict__ x, const __half* __restrict__ w, __half* __restrict__ y,
                                      int IC, int OC, int G, int D, int H, int W, int KD, int KH, int KW) {
    const int OD = D - KD + 1, OH = H - KH + 1, OW = W - KW + 1;
    int ow = blockIdx.x * blockDim.x + threadIdx.x;
    int dh = blockIdx.y * blockDim.y + threadIdx.y;
    int n = blockIdx.z / OC, oc = blockIdx.z % OC;
    if (ow >= OW || dh >= OD * OH) return;
    int od = dh / OH, oh = dh - od * OH;
    int icg = IC / G;
    int g = oc / (OC / G);
    float acc = 0.f;
    for (int c = 0; c < icg; c++) {
        const __half* xc = x + ((size_t)n * IC + g * icg + c) * D * H * W;
        const __half* wc = w + ((size_t)oc * icg + c) * KD * KH * KW;
        for (int a = 0; a < KD; a++)
            for (int b = 0; b < KH; b++) {
                const __half* row = xc + ((size_t)(od + a) * H + oh + b) * W + ow;
                for (int e = 0; e < KW; e++) acc += __half2float(row[e]) * __half2float(*wc++);
            }
    }
    y[(((size_t)n * OC + oc) * OD + od) * (size_t)(OH * OW) + oh * OW + ow] = __float2half_rn(acc);
}

extern "C" void conv3d_box_grouped(const __half* x, const __half* w, __half* y, int N, int IC, int OC, int G, int D, int H,
                                   int W, int KD, int KH, int KW, cudaStream_t st) {
    int OD = D - KD + 1, OH = H - KH + 1, OW = W - KW + 1;
    dim3 block(32, 4);
    dim3 grid(CEIL_DIV(OW, 32), CEIL_DIV(OD * OH, 4), N * OC);
    conv3d_grouped_kernel<<<grid, block, 0, st>>>(x, w, y, IC, OC, G, D, H, W, KD, KH, KW);
}

// ---------------------------------------------------------------- transposed conv1d, gather form
__global__ void convt1d_kernel(const float* x, const float* w, const float* bias, float* y, int N, int IC, int OC, int L, int K,
                               int LO, int stride, int pad, int dil) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N * OC * LO) return;
    int p = idx % LO;
    int oc = idx / LO % OC;
    int n = idx / (LO * OC);
    float v = bias[oc];
    for (int k = 0; k < K; ++k) {
        int t = p + pad - k * dil;
        if (t < 0 || t % stride != 0) continue;
        t /= stride;
        if (t >= L) continue;
        for (int ic = 0; ic < IC; ++ic) v += x[((size_t)n * IC + ic) * L + t] * w[((size_t)ic * OC + oc) * K + k];
    }
    y[idx] = v;
}

extern "C" void convt1d_dilated(const float* x, const float* w, const float* bias, float* y, int N, int IC, int OC, int L, int K,
                                int stride, int pad, int dil) {
    int LO = (L - 1) * stride - 2 * pad + dil * (K - 1) + 1;
    int total = N * OC * LO;
    convt1d_kernel<<<CEIL_DIV(total, 256), 256>>>(x, w, bias, y, N, IC, OC, L, K, LO, stride, pad, dil);
}

// ---------------------------------------------------------------- pointwise, two pixels per thread; H * W is even
__global__ void pointwise_kernel(const __half2* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ b,
                                 __half2* __restrict__ y, int C, int OC, int HW2) {
    extern __shared__ __half ws[];
    int oc = blockIdx.y, n = blockIdx.z;
    for (int c = threadIdx.x; c < C; c += blockDim.x) ws[c] = w[(size_t)oc * C + c];
    __syncthreads();
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= HW2) return;
    float a0 = __half2float(b[oc]), a1 = a0;
    for (int c = 0; c < C; ++c) {
        float2 v = __half22float2(x[((size_t)n * C + c) * HW2 + p]);
        float k = __half2float(ws[c]);
        a0 = fmaf(v.x, k, a0);
        a1 = fmaf(v.y, k, a1);
    }
    y[((size_t)n * OC + oc) * HW2 + p] = __floats2half2_rn(a0, a1);
}

extern "C" void pointwise_h2(const __half* x, const __half* w, const __half* b, __half* y, int N, int C, int OC, int H, int W,
                             cudaStream_t stream) {
    int hw2 = H * W / 2;
    dim3 grid(CEIL_DIV(hw2, 128), OC, N);
    pointwise_kernel<<<grid, 128, C * sizeof(__half), stream>>>((const __half2*)x, w, b, (__half2*)y, C, OC, hw2);
}
