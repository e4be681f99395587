#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <float.h>

// Scaled dot product attention with materialized scores.
// q, k, v, o: [B, H, S, D]   scores: [B, H, S, S] (float workspace)

__global__ void qk_scores(const __half* __restrict__ q, const __half* __restrict__ k,
                          float* __restrict__ scores, int S, int D, float scale)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    size_t bh = blockIdx.z;
    if (i >= S || j >= S)
        return;

    const __half* qi = q + (bh * S + i) * D;
    const __half* kj = k + (bh * S + j) * D;
    float dot = 0.0f;
    for (int d = 0; d < D; ++d)
        dot += __half2float(__ldg(qi + d)) * __half2float(__ldg(kj + d));
    scores[(bh * S + i) * S + j] = dot * scale;
}

// one warp per row, in place
__global__ void softmax_rows(float* scores, size_t rows, int S)
{
    size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float* p = scores + row * S;

    float m = -FLT_MAX;
    for (int j = lane; j < S; j += 32)
        m = fmaxf(m, p[j]);
    for (int d = 16; d; d >>= 1)
        m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));

    float s = 0.0f;
    for (int j = lane; j < S; j += 32) {
        float e = expf(p[j] - m);
        p[j] = e;
        s += e;
    }
    for (int d = 16; d; d >>= 1)
        s += __shfl_xor_sync(0xffffffff, s, d);

    float inv = 1.0f / s;
    for (int j = lane; j < S; j += 32)
        p[j] *= inv;
}

__global__ void weighted_values(const float* __restrict__ scores, const __half* __restrict__ v,
                                __half* __restrict__ o, int S, int D)
{
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    size_t bh = blockIdx.z;
    if (i >= S || d >= D)
        return;

    float acc = 0.0f;
    for (int j = 0; j < S; ++j)
        acc += __ldg(&scores[(bh * S + i) * S + j]) * __half2float(__ldg(&v[(bh * S + j) * D + d]));
    o[(bh * S + i) * D + d] = __float2half(acc);
}

extern "C" cudaError_t sdpa_forward(const __half* q, const __half* k, const __half* v, __half* o, float* scores,
                                    int B, int H, int S, int D, cudaStream_t stream)
{
    dim3 block(16, 16);
    qk_scores<<<dim3((S + 15) / 16, (S + 15) / 16, B * H), block, 0, stream>>>(q, k, scores, S, D, 1.0f / sqrtf((float)D));

    size_t rows = (size_t)B * H * S;
    softmax_rows<<<(unsigned)((rows + 3) / 4), 128, 0, stream>>>(scores, rows, S);

    weighted_values<<<dim3((D + 31) / 32, (S + 7) / 8, B * H), dim3(32, 8), 0, stream>>>(scores, v, o, S, D);
    return cudaGetLastError();
}
