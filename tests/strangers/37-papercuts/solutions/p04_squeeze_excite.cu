// Squeeze-and-Excitation, fp16 activations (NCHW), fp32 in between
#include <cuda_fp16.h>

namespace se {

// 1. global average pool: one block per (n, c)
__global__ void squeeze(const __half* x, float* pooled, int hw)
{
    const __half* p = x + static_cast<size_t>(blockIdx.x) * hw;
    float acc = 0.f;
    for (int i = threadIdx.x; i < hw; i += blockDim.x)
        acc += __half2float(p[i]);

    __shared__ float partial[8];
    for (int offset = 16; offset > 0; offset >>= 1)
        acc += __shfl_down_sync(0xffffffffu, acc, offset);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = acc;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.f;
        for (int i = 0; i < 8; ++i) total += partial[i];
        pooled[blockIdx.x] = total / hw;
    }
}

// 2. the two little layers: one block per image
__global__ void excite(const float* pooled, const __half* w1, const __half* b1, const __half* w2, const __half* b2,
                       float* gate, int c, int r)
{
    extern __shared__ float mem[];
    float* in = mem;           // c
    float* hidden = mem + c;   // r
    const int n = blockIdx.x;

    for (int i = threadIdx.x; i < c; i += blockDim.x)
        in[i] = pooled[n * c + i];
    __syncthreads();
    for (int j = threadIdx.x; j < r; j += blockDim.x) {
        float acc = __half2float(b1[j]);
        for (int i = 0; i < c; ++i) acc += __half2float(w1[j * c + i]) * in[i];
        hidden[j] = fmaxf(acc, 0.f);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < c; i += blockDim.x) {
        float acc = __half2float(b2[i]);
        for (int j = 0; j < r; ++j) acc += __half2float(w2[i * r + j]) * hidden[j];
        gate[n * c + i] = 1.f / (1.f + expf(-acc));
    }
}

// 3. scale
__global__ void scale(const __half* x, const float* gate, __half* y, int hw)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= hw) return;
    const size_t at = static_cast<size_t>(blockIdx.y) * hw + i;
    y[at] = __float2half(__half2float(x[at]) * gate[blockIdx.y]);
}

}  // namespace se

void squeeze_excite(const __half* x, const __half* w1, const __half* b1, const __half* w2, const __half* b2, float* pooled,
                    float* gate, __half* y, int n, int c, int r, int h, int w, cudaStream_t stream)
{
    const int hw = h * w;
    se::squeeze<<<n * c, 256, 0, stream>>>(x, pooled, hw);
    se::excite<<<n, 128, (c + r) * sizeof(float), stream>>>(pooled, w1, b1, w2, b2, gate, c, r);
    se::scale<<<dim3((hw + 255) / 256, n * c), 256, 0, stream>>>(x, gate, y, hw);
}
