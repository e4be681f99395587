#include <cuda_runtime.h>
#include <cuda_fp16.h>

// One GRU step.  The hidden state is replaced in place.
// x: [B, I]  h: [B, H]  w_ih: [3H, I]  w_hh: [3H, H]  gi, gh: [B, 3H]  gates in the order r, z, n
// I and H are even: rows are read as half2.

__global__ void gate_preactivations(const __half* __restrict__ in, const __half* __restrict__ w,
                                    const __half* __restrict__ bias, float* __restrict__ out,
                                    int batch, int len, int cols)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y * blockDim.y + threadIdx.y;
    if (b >= batch || c >= cols)
        return;

    const __half2* a2 = reinterpret_cast<const __half2*>(in + (size_t)b * len);
    const __half2* w2 = reinterpret_cast<const __half2*>(w + (size_t)c * len);
    float acc = __half2float(__ldg(bias + c));
    for (int i = 0; i < len / 2; ++i) {
        float2 u = __half22float2(__ldg(a2 + i));
        float2 v = __half22float2(__ldg(w2 + i));
        acc = fmaf(u.x, v.x, acc);
        acc = fmaf(u.y, v.y, acc);
    }
    out[(size_t)b * cols + c] = acc;
}

__global__ void gru_combine(const float* __restrict__ gi, const float* __restrict__ gh, __half* h, int batch, int hidden)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * hidden)
        return;
    int b = i / hidden, j = i - b * hidden;
    size_t base = (size_t)b * 3 * hidden + j;

    float r = 1.0f / (1.0f + __expf(-(__ldg(gi + base) + __ldg(gh + base))));
    float z = 1.0f / (1.0f + __expf(-(__ldg(gi + base + hidden) + __ldg(gh + base + hidden))));
    float n = tanhf(__ldg(gi + base + 2 * hidden) + r * __ldg(gh + base + 2 * hidden));
    h[i] = __float2half((1.0f - z) * n + z * __half2float(h[i]));
}

extern "C" cudaError_t gru_step(const __half* x, __half* h, const __half* w_ih, const __half* w_hh,
                                const __half* b_ih, const __half* b_hh, float* gi, float* gh,
                                int batch, int input, int hidden, cudaStream_t stream)
{
    dim3 block(32, 4);
    dim3 grid((3 * hidden + 31) / 32, (batch + 3) / 4);
    gate_preactivations<<<grid, block, 0, stream>>>(x, w_ih, b_ih, gi, batch, input, 3 * hidden);
    gate_preactivations<<<grid, block, 0, stream>>>(h, w_hh, b_hh, gh, batch, hidden, 3 * hidden);
    gru_combine<<<(batch * hidden + 255) / 256, 256, 0, stream>>>(gi, gh, h, batch, hidden);
    return cudaGetLastError();
}
