// Causal attention with grouped queries and soft-capped logits (Gemma 2), unfused: scores in memory.
//   q (B, HQ, S, D), k and v (B, HK, S, D), scores (B, HQ, S, S), of which only the lower triangles are used
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define T 16

__global__ void qk_kernel(const half* __restrict__ q, const half* __restrict__ k, float* __restrict__ scores, int HQ,
                          int HK, int S, int D, float scale, float softcap)
{
    if (blockIdx.x > blockIdx.y) return;             // above the diagonal
    __shared__ half sq[T][T + 2];
    __shared__ half sk[T][T + 2];
    const int b = blockIdx.z / HQ, h = blockIdx.z % HQ;
    const int hk = h / (HQ / HK);
    const half* Q = q + (size_t)blockIdx.z * S * D;
    const half* K = k + ((size_t)b * HK + hk) * S * D;

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i = blockIdx.y * T + ty;
    const int j = blockIdx.x * T + tx;
    const int jl = blockIdx.x * T + ty;
    float acc = 0.f;
    for (int d0 = 0; d0 < D; d0 += T) {
        const int d = d0 + tx;
        sq[ty][tx] = (i < S && d < D) ? Q[(size_t)i * D + d] : __ushort_as_half(0);
        sk[ty][tx] = (jl < S && d < D) ? K[(size_t)jl * D + d] : __ushort_as_half(0);
        __syncthreads();
#pragma unroll
        for (int t = 0; t < T; ++t) acc += __half2float(sq[ty][t]) * __half2float(sk[tx][t]);
        __syncthreads();
    }
    if (i < S && j <= i) scores[((size_t)blockIdx.z * S + i) * S + j] = softcap * tanhf(acc * scale / softcap);
}

__global__ void causal_softmax_kernel(float* __restrict__ scores, int rows, int S)
{
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int n = row % S + 1;
    float* p = scores + (size_t)row * S;

    float m = -1e38f;
    for (int j = lane; j < n; j += 32) m = fmaxf(m, p[j]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
    float s = 0.f;
    for (int j = lane; j < n; j += 32) {
        const float e = __expf(p[j] - m);
        p[j] = e;
        s += e;
    }
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    const float inv = 1.f / s;
    for (int j = lane; j < n; j += 32) p[j] *= inv;
}

__global__ void pv_kernel(const float* __restrict__ probs, const half* __restrict__ v, half* __restrict__ out, int HQ,
                          int HK, int S, int D)
{
    __shared__ float sp[T][T + 1];
    __shared__ float sv[T][T + 1];
    const int b = blockIdx.z / HQ, h = blockIdx.z % HQ;
    const int hk = h / (HQ / HK);
    const half* V = v + ((size_t)b * HK + hk) * S * D;
    const float* P = probs + (size_t)blockIdx.z * S * S;

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i = blockIdx.y * T + ty;
    const int d = blockIdx.x * T + tx;
    float acc = 0.f;
    for (int jt = 0; jt <= (int)blockIdx.y; ++jt) {
        const int jp = jt * T + tx, jv = jt * T + ty;
        sp[ty][tx] = (i < S && jp <= i) ? P[(size_t)i * S + jp] : 0.f;
        sv[ty][tx] = (jv < S && d < D) ? __half2float(V[(size_t)jv * D + d]) : 0.f;
        __syncthreads();
        for (int t = 0; t < T; ++t) acc += sp[ty][t] * sv[t][tx];
        __syncthreads();
    }
    if (i < S && d < D) out[((size_t)blockIdx.z * S + i) * D + d] = __float2half(acc);
}

bool gqa_softcap_attention(const half* q, const half* k, const half* v, half* out, float* scores, int B, int HQ, int HK,
                           int S, int D, float scale, float softcap, cudaStream_t stream)
{
    if (B <= 0 || HK <= 0 || HQ < HK || HQ % HK || S <= 0 || D <= 0) return false;
    if ((long long)B * HQ > 65535 || (long long)B * HQ * S > 2147480000LL) return false;
    const dim3 block(T, T);
    const int st = (S + T - 1) / T;
    qk_kernel<<<dim3(st, st, B * HQ), block, 0, stream>>>(q, k, scores, HQ, HK, S, D, scale, softcap);
    const int rows = B * HQ * S;
    causal_softmax_kernel<<<(rows + 3) / 4, 128, 0, stream>>>(scores, rows, S);
    pv_kernel<<<dim3((D + T - 1) / T, st, B * HQ), block, 0, stream>>>(scores, v, out, HQ, HK, S, D);
    return cudaGetLastError() == cudaSuccess;
}
