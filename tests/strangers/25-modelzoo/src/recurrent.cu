// One step of a GRU cell (PyTorch's equations, gates in the order r, z, n).
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ __forceinline__ float sigmoid(float x) { return 1.f / (1.f + expf(-x)); }

// out (rows x outs, float) = in (rows x ins) * w^T + b
__global__ void gate_matmul(const __half* __restrict__ in, const __half* __restrict__ w, const __half* __restrict__ b,
                            float* __restrict__ out, int rows, int ins, int outs)
{
    const int o = blockIdx.x * blockDim.x + threadIdx.x;
    const int r = blockIdx.y;
    if (o >= outs || r >= rows) return;
    const __half* x = in + (size_t)r * ins;
    const __half* wo = w + (size_t)o * ins;
    float acc = 0.f;
    for (int i = 0; i < ins; i++) acc = fmaf(__half2float(x[i]), __half2float(wo[i]), acc);
    out[(size_t)r * outs + o] = acc + __half2float(b[o]);
}

__global__ void gru_pointwise(const float* gi, const float* gh, const __half* h, __half* h_next, int batch, int hidden)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= batch * hidden) return;
    const int b = t / hidden;
    const int j = t % hidden;
    const float* a = gi + (size_t)b * 3 * hidden;
    const float* c = gh + (size_t)b * 3 * hidden;

    const float r = sigmoid(a[j] + c[j]);
    const float z = sigmoid(a[hidden + j] + c[hidden + j]);
    const float n = tanhf(a[2 * hidden + j] + r * c[2 * hidden + j]);
    h_next[t] = __float2half((1.f - z) * n + z * __half2float(h[t]));
}

void gru_cell_step(const __half* x, const __half* h, const __half* w_ih, const __half* w_hh, const __half* b_ih,
                   const __half* b_hh, __half* h_next, float* gi, float* gh, int batch, int inputs, int hidden,
                   cudaStream_t stream)
{
    const int gates = 3 * hidden;
    const dim3 grid((gates + 127) / 128, batch);
    gate_matmul<<<grid, 128, 0, stream>>>(x, w_ih, b_ih, gi, batch, inputs, gates);
    gate_matmul<<<grid, 128, 0, stream>>>(h, w_hh, b_hh, gh, batch, hidden, gates);
    gru_pointwise<<<(batch * hidden + 255) / 256, 256, 0, stream>>>(gi, gh, h, h_next, batch, hidden);
}
