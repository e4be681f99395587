// One GRU layer over a sequence, bf16, gates in the order of PyTorch (r, z, n). The input part of the gates is
// computed for all steps at once, then a kernel per step.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;

__device__ __forceinline__ float sigm(float x) { return 1.0f / (1.0f + expf(-x)); }

// gi[row, g] = x[row, :] . w_ih[g, :] + b_ih[g], one warp each
__global__ void gru_input_gates(const bf16* __restrict__ x, const bf16* __restrict__ w_ih,
                                const bf16* __restrict__ b_ih, float* __restrict__ gi, int rows, int I, int G)
{
    const int lane = threadIdx.x & 31;
    const int g = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (g >= G) return;
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
        float acc = 0.0f;
        for (int i = lane; i < I; i += 32)
            acc += __bfloat162float(x[(size_t)row * I + i]) * __bfloat162float(w_ih[(size_t)g * I + i]);
        for (int o = 16; o > 0; o >>= 1) acc += __shfl_down_sync(0xffffffffu, acc, o);
        if (lane == 0) gi[(size_t)row * G + g] = acc + __bfloat162float(b_ih[g]);
    }
}

__global__ void gru_step(const float* __restrict__ gi, const bf16* __restrict__ h_prev, const bf16* __restrict__ w_hh,
                         const bf16* __restrict__ b_hh, bf16* __restrict__ h_next, int H)
{
    const int lane = threadIdx.x & 31;
    const int j = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    const int b = blockIdx.y;
    if (j >= H) return;

    const bf16* h = h_prev + (size_t)b * H;
    float r = 0.0f, z = 0.0f, n = 0.0f;
    for (int k = lane; k < H; k += 32) {
        const float hk = __bfloat162float(h[k]);
        r += hk * __bfloat162float(w_hh[(size_t)j * H + k]);
        z += hk * __bfloat162float(w_hh[(size_t)(H + j) * H + k]);
        n += hk * __bfloat162float(w_hh[(size_t)(2 * H + j) * H + k]);
    }
    for (int o = 16; o > 0; o >>= 1) {
        r += __shfl_down_sync(0xffffffffu, r, o);
        z += __shfl_down_sync(0xffffffffu, z, o);
        n += __shfl_down_sync(0xffffffffu, n, o);
    }
    if (lane == 0) {
        const float* g = gi + (size_t)b * 3 * H;
        r = sigm(g[j] + r + __bfloat162float(b_hh[j]));
        z = sigm(g[H + j] + z + __bfloat162float(b_hh[H + j]));
        n = tanhf(g[2 * H + j] + r * (n + __bfloat162float(b_hh[2 * H + j])));
        h_next[(size_t)b * H + j] = __float2bfloat16((1.0f - z) * n + z * __bfloat162float(h[j]));
    }
}

void gru_layer_bf16(const bf16* x, const bf16* h0, const bf16* w_ih, const bf16* w_hh, const bf16* b_ih,
                    const bf16* b_hh, bf16* y, float* gi, int T, int B, int I, int H, cudaStream_t stream)
{
    if (T <= 0 || B <= 0 || B > 65535 || I <= 0 || H <= 0 || (long long)T * B > 2147480000LL) return;
    const int rows = T * B;
    gru_input_gates<<<dim3((3 * H + 7) / 8, rows < 32768 ? rows : 32768), 256, 0, stream>>>(x, w_ih, b_ih, gi, rows, I,
                                                                                           3 * H);
    for (int t = 0; t < T; t++) {
        const bf16* prev = t == 0 ? h0 : y + (size_t)(t - 1) * B * H;
        gru_step<<<dim3((H + 7) / 8, B), 256, 0, stream>>>(gi + (size_t)t * B * 3 * H, prev, w_hh, b_hh,
                                                           y + (size_t)t * B * H, H);
    }
}
