// One step of an LSTM (PyTorch order of the gates: i, f, g, o). fp16 weights and hidden state, fp32 cell state.
#include <cuda_fp16.h>

template <int WARPS>
__global__ void lstm_gates(const __half* __restrict__ x, const __half* __restrict__ h, const __half* __restrict__ w_ih,
                           const __half* __restrict__ w_hh, const float* __restrict__ bias, float* __restrict__ gates,
                           int in_size, int hid) {
    const int unit = blockIdx.x * WARPS + threadIdx.y;
    const int b = blockIdx.y;
    if (unit >= hid) return;  // whole warps leave

    float sum[4] = {0.f, 0.f, 0.f, 0.f};
    for (int i = threadIdx.x; i < in_size; i += 32) {
        const float v = __half2float(x[(size_t)b * in_size + i]);
#pragma unroll
        for (int g = 0; g < 4; ++g) sum[g] += v * __half2float(w_ih[(size_t)(g * hid + unit) * in_size + i]);
    }
    for (int i = threadIdx.x; i < hid; i += 32) {
        const float v = __half2float(h[(size_t)b * hid + i]);
#pragma unroll
        for (int g = 0; g < 4; ++g) sum[g] += v * __half2float(w_hh[(size_t)(g * hid + unit) * hid + i]);
    }
#pragma unroll
    for (int g = 0; g < 4; ++g)
#pragma unroll
        for (int o = 16; o > 0; o >>= 1) sum[g] += __shfl_down_sync(0xffffffffu, sum[g], o);

    if (threadIdx.x == 0)
        for (int g = 0; g < 4; ++g) gates[((size_t)b * 4 + g) * hid + unit] = sum[g] + bias[g * hid + unit];
}

__device__ __forceinline__ float sigmoid(float v) { return 1.f / (1.f + expf(-v)); }

__global__ void lstm_update(const float* __restrict__ gates, float* __restrict__ c, __half* __restrict__ h_next,
                            int batch, int hid) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= batch * hid) return;
    const int b = t / hid, u = t % hid;
    const float* g = gates + (size_t)b * 4 * hid + u;
    const float in = sigmoid(g[0]);
    const float forget = sigmoid(g[hid]);
    const float cell = tanhf(g[2 * hid]);
    const float out = sigmoid(g[3 * hid]);
    const float next = forget * c[t] + in * cell;
    c[t] = next;
    h_next[t] = __float2half(out * tanhf(next));
}

void lstm_cell_step(const __half* x, const __half* h, const __half* w_ih, const __half* w_hh, const float* bias,
                    float* gates, float* c, __half* h_next, int batch, int in_size, int hid) {
    constexpr int WARPS = 6;
    lstm_gates<WARPS><<<dim3((hid + WARPS - 1) / WARPS, batch), dim3(32, WARPS)>>>(x, h, w_ih, w_hh, bias, gates, in_size,
                                                                                  hid);
    lstm_update<<<(batch * hid + 255) / 256, 256>>>(gates, c, h_next, batch, hid);
}
