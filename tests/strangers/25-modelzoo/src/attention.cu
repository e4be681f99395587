// Causal self-attention in three kernels; scores (batch * heads, seq, seq) in float are a workspace.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <float.h>

__global__ void attn_scores(const half* __restrict__ q, const half* __restrict__ k, float* __restrict__ scores,
                            int seq, int dim, float scale)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int bh = blockIdx.z;
    if (i >= seq || j >= seq) return;

    float* dst = scores + ((size_t)bh * seq + i) * seq + j;
    if (j > i) {
        *dst = -FLT_MAX;
        return;
    }
    const half* qi = q + ((size_t)bh * seq + i) * dim;
    const half* kj = k + ((size_t)bh * seq + j) * dim;
    float dot = 0.f;
    for (int d = 0; d < dim; ++d) dot += __half2float(qi[d]) * __half2float(kj[d]);
    *dst = dot * scale;
}

__global__ void attn_softmax(float* scores, int seq)
{
    extern __shared__ float red[];
    const int i = blockIdx.x % seq;
    float* row = scores + (size_t)blockIdx.x * seq;
    const int valid = i + 1;
    const int tid = threadIdx.x;

    float m = -FLT_MAX;
    for (int j = tid; j < valid; j += blockDim.x) m = fmaxf(m, row[j]);
    red[tid] = m;
    __syncthreads();
    for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
        if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();

    float sum = 0.f;
    for (int j = tid; j < valid; j += blockDim.x) {
        const float e = expf(row[j] - m);
        row[j] = e;
        sum += e;
    }
    red[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
        if (tid < s) red[tid] += red[tid + s];
        __syncthreads();
    }
    const float inv = 1.f / red[0];

    for (int j = tid; j < seq; j += blockDim.x) row[j] = j < valid ? row[j] * inv : 0.f;
}

__global__ void attn_values(const float* __restrict__ scores, const half* __restrict__ v, half* __restrict__ out,
                            int seq, int dim)
{
    const int d = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int bh = blockIdx.z;
    if (i >= seq || d >= dim) return;

    const float* row = scores + ((size_t)bh * seq + i) * seq;
    const half* vb = v + (size_t)bh * seq * dim;
    float acc = 0.f;
    for (int j = 0; j <= i; ++j) acc += row[j] * __half2float(vb[(size_t)j * dim + d]);
    out[((size_t)bh * seq + i) * dim + d] = __float2half(acc);
}

cudaError_t causal_attention_f16(half* out, const half* q, const half* k, const half* v, float* scores, int batch,
                                 int heads, int seq, int dim, cudaStream_t stream)
{
    const int bh = batch * heads;
    const float scale = 1.0f / sqrtf((float)dim);

    dim3 b1(16, 16);
    dim3 g1((seq + 15) / 16, (seq + 15) / 16, bh);
    attn_scores<<<g1, b1, 0, stream>>>(q, k, scores, seq, dim, scale);

    attn_softmax<<<bh * seq, 128, 128 * sizeof(float), stream>>>(scores, seq);

    dim3 b2(32, 8);
    dim3 g2((dim + 31) / 32, (seq + 7) / 8, bh);
    attn_values<<<g2, b2, 0, stream>>>(scores, v, out, seq, dim);
    return cudaGetLastError();
}
