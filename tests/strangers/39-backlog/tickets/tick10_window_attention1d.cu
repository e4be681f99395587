// Sliding window attention (Longformer / Mistral flavour): query t sees the keys t - W + 1 ... t.
// Layout [B, H, T, D], half. One block per query and head; the W probabilities live in shared memory.

#include <cuda_fp16.h>

#define NT 128
#define NW (NT / 32)

template <typename Op>
__device__ float block_reduce(float v, float *buf, float neutral, Op op)
{
    for (int i = 16; i > 0; i /= 2)
        v = op(v, __shfl_xor_sync(0xffffffffu, v, i));
    if (threadIdx.x % 32 == 0)
        buf[threadIdx.x / 32] = v;
    __syncthreads();
    v = neutral;
    for (int i = 0; i < NW; i++)
        v = op(v, buf[i]);
    __syncthreads();
    return v;
}

struct MaxOp { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct SumOp { __device__ float operator()(float a, float b) const { return a + b; } };

__global__ void swa_kernel(const half *Q, const half *K, const half *V, half *O, int T, int D, int W, float scale)
{
    extern __shared__ float smem[];
    float *prob = smem;          // W
    float *qrow = prob + W;      // D
    float *buf = qrow + D;       // NW

    const int t = blockIdx.x;
    const size_t head = (size_t)blockIdx.y * T * D;
    const int first = t - W + 1 > 0 ? t - W + 1 : 0;
    const int n = t - first + 1;

    for (int d = threadIdx.x; d < D; d += NT)
        qrow[d] = scale * __half2float(Q[head + (size_t)t * D + d]);
    __syncthreads();

    float mx = -INFINITY;
    for (int i = threadIdx.x; i < n; i += NT) {
        const half *k = K + head + (size_t)(first + i) * D;
        float s = 0.0f;
        for (int d = 0; d < D; d++)
            s += qrow[d] * __half2float(k[d]);
        prob[i] = s;
        mx = fmaxf(mx, s);
    }
    mx = block_reduce(mx, buf, -INFINITY, MaxOp());

    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += NT) {
        float e = expf(prob[i] - mx);
        prob[i] = e;
        sum += e;
    }
    sum = block_reduce(sum, buf, 0.0f, SumOp());    // its barriers also publish prob

    for (int d = threadIdx.x; d < D; d += NT) {
        float o = 0.0f;
        for (int i = 0; i < n; i++)
            o += prob[i] * __half2float(V[head + (size_t)(first + i) * D + d]);
        O[head + (size_t)t * D + d] = __float2half(o / sum);
    }
}

void window_attention1d(const half *Q, const half *K, const half *V, half *O, int B, int H, int T, int D, int W, float scale)
{
    size_t smem = (W + D + NW) * sizeof(float);
    swa_kernel<<<dim3(T, B * H), NT, smem>>>(Q, K, V, O, T, D, W, scale);
}
