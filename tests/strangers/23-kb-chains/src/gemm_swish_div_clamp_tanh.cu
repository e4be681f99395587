#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace chain {

constexpr int kTile = 32;

__device__ __forceinline__ float to_float(__nv_bfloat16 v) { return __bfloat162float(v); }

template <typename T, int TILE>
__global__ void gemm_nt(const T* __restrict__ x, const T* __restrict__ w, const T* __restrict__ b, T* __restrict__ y,
                        int M, int N, int K) {
    __shared__ T sx[TILE][TILE];
    __shared__ T sw[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int m = blockIdx.y * TILE + ty;
    const int n = blockIdx.x * TILE + tx;
    const int nw = blockIdx.x * TILE + ty;
    const T zero = T(0.f);

    float acc = 0.f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        const bool kin = k0 + tx < K;
        sx[ty][tx] = m < M && kin ? x[(size_t)m * K + k0 + tx] : zero;
        sw[ty][tx] = nw < N && kin ? w[(size_t)nw * K + k0 + tx] : zero;
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; ++k) acc += to_float(sx[ty][k]) * to_float(sw[tx][k]);
        __syncthreads();
    }
    if (m < M && n < N) y[(size_t)m * N + n] = T(acc + to_float(b[n]));
}

// swish, divide by 2, clamp, tanh, clamp; in place
template <typename T>
__global__ void pointwise_chain(T* y, size_t total) {
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += stride) {
        float v = to_float(y[i]);
        v = v / (1.f + expf(-v));
        v = v / 2.f;
        v = fminf(fmaxf(v, -1.f), 1.f);
        v = tanhf(v);
        v = fminf(fmaxf(v, -1.f), 1.f);
        y[i] = T(v);
    }
}

}  // namespace chain

void gemm_swish_div_clamp_tanh(const __nv_bfloat16* x, const __nv_bfloat16* w, const __nv_bfloat16* b,
                               __nv_bfloat16* y, int M, int N, int K) {
    using T = __nv_bfloat16;
    dim3 block(chain::kTile, chain::kTile);
    dim3 grid((N + chain::kTile - 1) / chain::kTile, (M + chain::kTile - 1) / chain::kTile);
    chain::gemm_nt<T, chain::kTile><<<grid, block>>>(x, w, b, y, M, N, K);

    const size_t total = (size_t)M * N;
    const size_t blocks = (total + 255) / 256;
    chain::pointwise_chain<T><<<(unsigned)(blocks > 1024 ? 1024 : blocks), 256>>>(y, total);
}
