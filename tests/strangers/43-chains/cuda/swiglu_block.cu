// out = x + down( silu(gate(n)) * up(n) ),  n = rmsnorm(x) * g      (feed-forward half of a LLaMA layer, bf16)
#include <cuda_bf16.h>

namespace ffn {

using T = __nv_bfloat16;

__device__ inline float f(T v) { return __bfloat162float(v); }

__global__ void rmsnorm(const T* __restrict__ x, const T* __restrict__ g, T* __restrict__ n, int dim, float eps) {
    __shared__ float sums[8];
    const T* row = x + (size_t)blockIdx.x * dim;
    float s = 0;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) s += f(row[i]) * f(row[i]);
#pragma unroll
    for (int m = 16; m > 0; m >>= 1) s += __shfl_xor_sync(0xffffffff, s, m);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = s;
    __syncthreads();
    s = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) s += sums[i];
    const float r = rsqrtf(s / dim + eps);
    for (int i = threadIdx.x; i < dim; i += blockDim.x)
        n[(size_t)blockIdx.x * dim + i] = __float2bfloat16(f(row[i]) * r * f(g[i]));
}

// Epilogues: what becomes of element `at` with the value v.
struct Store {
    T* to;
    __device__ void operator()(size_t at, float v) const { to[at] = __float2bfloat16(v); }
};
struct SwiGlu {
    T* gate_and_result;
    __device__ void operator()(size_t at, float v) const {
        const float g = f(gate_and_result[at]);
        gate_and_result[at] = __float2bfloat16(g / (1.f + __expf(-g)) * v);
    }
};
struct Residual {
    const T* x;
    T* to;
    __device__ void operator()(size_t at, float v) const { to[at] = __float2bfloat16(f(x[at]) + v); }
};

// a: R x K, w: N x K. 32 x 32 outputs per block, 2 x 2 per thread.
template <class Epilogue>
__global__ void __launch_bounds__(256) linear(const T* __restrict__ a, const T* __restrict__ w, int R, int N, int K, Epilogue done) {
    __shared__ float sa[32][33], sw[32][33];
    const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 16 + tx;
    const int r0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
    float c00 = 0, c01 = 0, c10 = 0, c11 = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
#pragma unroll
        for (int i = tid; i < 1024; i += 256) {
            const int y = i >> 5, x = i & 31;
            sa[y][x] = (r0 + y < R && k0 + x < K) ? f(a[(size_t)(r0 + y) * K + k0 + x]) : 0.f;
            sw[y][x] = (n0 + y < N && k0 + x < K) ? f(w[(size_t)(n0 + y) * K + k0 + x]) : 0.f;
        }
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 32; ++k) {
            const float a0 = sa[ty][k], a1 = sa[ty + 16][k], b0 = sw[tx][k], b1 = sw[tx + 16][k];
            c00 += a0 * b0;
            c01 += a0 * b1;
            c10 += a1 * b0;
            c11 += a1 * b1;
        }
        __syncthreads();
    }
    const int r = r0 + ty, n = n0 + tx;
    if (r < R && n < N) done((size_t)r * N + n, c00);
    if (r < R && n + 16 < N) done((size_t)r * N + n + 16, c01);
    if (r + 16 < R && n < N) done((size_t)(r + 16) * N + n, c10);
    if (r + 16 < R && n + 16 < N) done((size_t)(r + 16) * N + n + 16, c11);
}

template <class Epilogue>
void run_linear(const T* a, const T* w, int R, int N, int K, Epilogue done) {
    linear<<<dim3((N + 31) / 32, (R + 31) / 32), dim3(16, 16)>>>(a, w, R, N, K, done);
}

}  // namespace ffn

void swiglu_block(const __nv_bfloat16* x, const __nv_bfloat16* g, const __nv_bfloat16* w_gate,
                  const __nv_bfloat16* w_up, const __nv_bfloat16* w_down, __nv_bfloat16* normed, __nv_bfloat16* hidden,
                  __nv_bfloat16* out, int rows, int dim, int ff, float eps) {
    ffn::rmsnorm<<<rows, 256>>>(x, g, normed, dim, eps);
    ffn::run_linear(normed, w_gate, rows, ff, dim, ffn::Store{hidden});
    ffn::run_linear(normed, w_up, rows, ff, dim, ffn::SwiGlu{hidden});
    ffn::run_linear(hidden, w_down, rows, dim, ff, ffn::Residual{x, out});
}
