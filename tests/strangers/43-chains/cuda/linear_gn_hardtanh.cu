#include <cuda_bf16.h>

typedef __nv_bfloat16 bf16_t;

// ---- small helpers -------------------------------------------------------------------------------------------------
template <typename T> struct Cvt;
template <> struct Cvt<bf16_t> {
    static __device__ __forceinline__ float to(bf16_t v) { return __bfloat162float(v); }
    static __device__ __forceinline__ bf16_t from(float v) { return __float2bfloat16(v); }
};

struct HardTanh {
    float lo, hi;
    __device__ float operator()(float v) const { return v < lo ? lo : (v > hi ? hi : v); }
};

// ---- y = x W^T + b, 64 x 16 outputs per block, four per thread -------------------------------------------------------
template <typename T>
__global__ void linear_64x16(const T* __restrict__ x, const T* __restrict__ w, const T* __restrict__ b,
                             float* __restrict__ y, int rows, int out_f, int in_f) {
    __shared__ float xs[64][17];
    __shared__ float ws[16][17];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int r0 = blockIdx.y * 64, c0 = blockIdx.x * 16;
    float acc[4] = {0.f, 0.f, 0.f, 0.f};
    for (int k0 = 0; k0 < in_f; k0 += 16) {
        const int k = k0 + tx;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int r = r0 + ty + 16 * i;
            xs[ty + 16 * i][tx] = (r < rows && k < in_f) ? Cvt<T>::to(x[(size_t)r * in_f + k]) : 0.f;
        }
        ws[ty][tx] = (c0 + ty < out_f && k < in_f) ? Cvt<T>::to(w[(size_t)(c0 + ty) * in_f + k]) : 0.f;
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 16; ++kk) {
            const float wv = ws[tx][kk];
#pragma unroll
            for (int i = 0; i < 4; ++i) acc[i] = fmaf(xs[ty + 16 * i][kk], wv, acc[i]);
        }
        __syncthreads();
    }
    const int c = c0 + tx;
    if (c >= out_f) return;
    const float bv = Cvt<T>::to(b[c]);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int r = r0 + ty + 16 * i;
        if (r < rows) y[(size_t)r * out_f + c] = acc[i] + bv;
    }
}

// ---- a warp per (row, group) -----------------------------------------------------------------------------------------
template <typename T, typename Act>
__global__ void group_norm_act(const float* __restrict__ y, const T* __restrict__ gamma, const T* __restrict__ beta,
                               T* __restrict__ out, int rows, int features, int groups, float eps, Act act) {
    const int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (warp >= rows * groups) return;
    const int size = features / groups;
    const int f0 = (warp % groups) * size;
    const float* src = y + (size_t)(warp / groups) * features + f0;
    T* dst = out + (size_t)(warp / groups) * features + f0;

    float s = 0.f;
    for (int i = lane; i < size; i += 32) s += src[i];
    for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffff, s, o);
    const float mean = s / size;
    float q = 0.f;
    for (int i = lane; i < size; i += 32) q += (src[i] - mean) * (src[i] - mean);
    for (int o = 16; o > 0; o /= 2) q += __shfl_xor_sync(0xffffffff, q, o);
    const float rstd = rsqrtf(q / size + eps);

    for (int i = lane; i < size; i += 32)
        dst[i] = Cvt<T>::from(act((src[i] - mean) * rstd * Cvt<T>::to(gamma[f0 + i]) + Cvt<T>::to(beta[f0 + i])));
}

void linear_groupnorm_hardtanh(const __nv_bfloat16* x, const __nv_bfloat16* w, const __nv_bfloat16* b,
                               const __nv_bfloat16* gamma, const __nv_bfloat16* beta, float* y, __nv_bfloat16* out,
                               int rows, int in_f, int out_f, int groups, float eps, float lo, float hi) {
    linear_64x16<bf16_t><<<dim3((out_f + 15) / 16, (rows + 63) / 64), dim3(16, 16)>>>(x, w, b, y, rows, out_f, in_f);
    HardTanh act;
    act.lo = lo;
    act.hi = hi;
    group_norm_act<bf16_t, HardTanh><<<(rows * groups + 3) / 4, 128>>>(y, gamma, beta, out, rows, out_f, groups, eps, act);
}
