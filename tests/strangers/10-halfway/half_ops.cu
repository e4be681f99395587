// Everything in half or bfloat16; sums in float.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

using half_t = __half;
using bf16_t = __nv_bfloat16;

// ---------------- elementwise ----------------

__global__ void add_half2(const half2 *a, const half2 *b, half2 *c, int n2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n2) c[i] = __hadd2(a[i], b[i]);
}
__global__ void add_half_tail(const half_t *a, const half_t *b, half_t *c, int from, int n) {
    int i = from + threadIdx.x;
    if (i < n) c[i] = __hadd(a[i], b[i]);
}
void hadd(const half_t *a, const half_t *b, half_t *c, int n) {
    int n2 = n / 2;
    if (n2) add_half2<<<(n2 + 255) / 256, 256>>>((const half2 *)a, (const half2 *)b, (half2 *)c, n2);
    if (n & 1) add_half_tail<<<1, 1>>>(a, b, c, n - 1, n);
}

// y = a * x + y with a float factor, 8 halfs per thread
__global__ void haxpy_kernel(float a, const uint4 *__restrict__ x, uint4 *__restrict__ y, int n8) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n8; i += gridDim.x * blockDim.x) {
        uint4 u = x[i], v = y[i];
        half2 *p = reinterpret_cast<half2 *>(&u), *q = reinterpret_cast<half2 *>(&v);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 f = __half22float2(p[k]), g = __half22float2(q[k]);
            q[k] = __floats2half2_rn(fmaf(a, f.x, g.x), fmaf(a, f.y, g.y));
        }
        y[i] = v;
    }
}
// n must be a multiple of 8
void haxpy(float a, const half_t *x, half_t *y, int n) {
    if (n % 8 != 0) return;
    haxpy_kernel<<<(n / 8 + 127) / 128, 128>>>(a, (const uint4 *)x, (uint4 *)y, n / 8);
}

__global__ void bf16_gelu_kernel(const bf16_t *x, bf16_t *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = __bfloat162float(x[i]);
    y[i] = __float2bfloat16(v * normcdff(v));
}
void bf16_gelu(const bf16_t *x, bf16_t *y, int n) { bf16_gelu_kernel<<<(n + 255) / 256, 256>>>(x, y, n); }

// bias + residual + relu, broadcast over rows, two columns per thread
__global__ void bias_res_relu_kernel(const bf16_t *x, const bf16_t *bias, const bf16_t *res, bf16_t *y, int rows, int cols2) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (c >= cols2) return;
    const __nv_bfloat162 *x2 = (const __nv_bfloat162 *)x + (size_t)r * cols2;
    const __nv_bfloat162 *r2 = (const __nv_bfloat162 *)res + (size_t)r * cols2;
    float2 a = __bfloat1622float2(x2[c]);
    float2 b = __bfloat1622float2(((const __nv_bfloat162 *)bias)[c]);
    float2 d = __bfloat1622float2(r2[c]);
    ((__nv_bfloat162 *)y)[(size_t)r * cols2 + c] = __floats2bfloat162_rn(fmaxf(a.x + b.x + d.x, 0.f), fmaxf(a.y + b.y + d.y, 0.f));
}
void bias_residual_relu_bf16(const bf16_t *x, const bf16_t *bias, const bf16_t *res, bf16_t *y, int rows, int cols) {
    bias_res_relu_kernel<<<dim3((cols / 2 + 63) / 64, rows), 64>>>(x, bias, res, y, rows, cols / 2);  // cols is even
}

// ---------------- conversions ----------------

template <class To, class From> __device__ To cast(From f);
template <> __device__ half_t cast(float f) { return __float2half(f); }
template <> __device__ float cast(half_t f) { return __half2float(f); }
template <> __device__ bf16_t cast(float f) { return __float2bfloat16(f); }

template <class To, class From>
__global__ void cast_kernel(const From *in, To *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = cast<To, From>(in[i]);
}
void float_to_half(const float *in, half_t *out, int n) { cast_kernel<half_t, float><<<(n + 255) / 256, 256>>>(in, out, n); }
void float_to_bf16(const float *in, bf16_t *out, int n) { cast_kernel<bf16_t, float><<<(n + 255) / 256, 256>>>(in, out, n); }

// ---------------- reductions, normalisations ----------------

template <class T> __device__ float to_f(T v);
template <> __device__ float to_f(half_t v) { return __half2float(v); }
template <> __device__ float to_f(bf16_t v) { return __bfloat162float(v); }

__device__ float block_sum(float v) {
    static __shared__ float s[32];
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0.f;
    for (int i = 0; i < blockDim.x / 32; i++) v += s[i];
    __syncthreads();
    return v;
}

__global__ void rms_bf16_kernel(const bf16_t *x, const bf16_t *w, bf16_t *y, int cols, float eps) {
    const bf16_t *p = x + (size_t)blockIdx.x * cols;
    bf16_t *q = y + (size_t)blockIdx.x * cols;
    float s = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) s += to_f(p[c]) * to_f(p[c]);
    float k = rsqrtf(block_sum(s) / cols + eps);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) q[c] = __float2bfloat16(to_f(p[c]) * k * to_f(w[c]));
}
void rmsnorm_bf16(const bf16_t *x, const bf16_t *w, bf16_t *y, int rows, int cols, float eps) {
    rms_bf16_kernel<<<rows, 128>>>(x, w, y, cols, eps);
}

__global__ void softmax_half_kernel(const half_t *x, half_t *y, int cols) {
    __shared__ float smax[32];
    const half_t *p = x + (size_t)blockIdx.x * cols;
    float m = -65504.f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, to_f(p[c]));
    for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, o));
    if (threadIdx.x % 32 == 0) smax[threadIdx.x / 32] = m;
    __syncthreads();
    for (int i = 0; i < blockDim.x / 32; i++) m = fmaxf(m, smax[i]);
    float s = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) s += __expf(to_f(p[c]) - m);
    s = block_sum(s);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[(size_t)blockIdx.x * cols + c] = __float2half(__expf(to_f(p[c]) - m) / s);
}
void softmax_half(const half_t *x, half_t *y, int rows, int cols) { softmax_half_kernel<<<rows, 64>>>(x, y, cols); }

// mean of the columns: out[c] = mean_r x[r][c]; 32 x 8 threads, shared memory across the rows
__global__ void col_mean_kernel(const half_t *x, float *out, int rows, int cols) {
    __shared__ float s[8][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    float v = 0;
    if (c < cols)
        for (int r = threadIdx.y; r < rows; r += 8) v += to_f(x[(size_t)r * cols + c]);
    s[threadIdx.y][threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.y == 0 && c < cols) {
        for (int k = 1; k < 8; k++) v += s[k][threadIdx.x];
        out[c] = v / rows;
    }
}
void column_mean_half(const half_t *x, float *out, int rows, int cols) {
    col_mean_kernel<<<(cols + 31) / 32, dim3(32, 8)>>>(x, out, rows, cols);
}
