// Linear layer with int8 weights and a scale per group of input features, fp16 activations; for decoding, where there
// are few rows. out[m, n] = sum_k x[m, k] * q[n, k] * scale[n, k / group] + bias[n]. A warp for each n and ROWS rows.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

template <int ROWS>
__global__ void w8a16_kernel(const __half* __restrict__ x, const int8_t* __restrict__ q,
                             const __half* __restrict__ scale, const __half* __restrict__ bias,
                             __half* __restrict__ out, int M, int N, int K, int group)
{
    const int lane = threadIdx.x;
    const int n = blockIdx.x * blockDim.y + threadIdx.y;
    const int m0 = blockIdx.y * ROWS;
    if (n >= N) return;
    const int groups = (K + group - 1) / group;
    const int8_t* qr = q + (size_t)n * K;
    const __half* sr = scale + (size_t)n * groups;

    float acc[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) acc[r] = 0.f;
    for (int k = lane; k < K; k += 32) {
        const float w = (float)qr[k] * __half2float(sr[k / group]);
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (m0 + r < M) acc[r] += __half2float(x[(size_t)(m0 + r) * K + k]) * w;
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        for (int o = 16; o; o >>= 1) acc[r] += __shfl_xor_sync(0xffffffffu, acc[r], o);
        if (lane == 0 && m0 + r < M) out[(size_t)(m0 + r) * N + n] = __float2half(acc[r] + __half2float(bias[n]));
    }
}

cudaError_t linear_w8a16(const __half* x, const int8_t* q, const __half* scale, const __half* bias, __half* out, int M,
                         int N, int K, int group, cudaStream_t stream)
{
    if (M <= 0 || N <= 0 || K <= 0 || group <= 0 || M > 65535) return cudaErrorInvalidValue;
    const dim3 block(32, 4);
    if (M == 1)
        w8a16_kernel<1><<<dim3((N + 3) / 4, 1), block, 0, stream>>>(x, q, scale, bias, out, M, N, K, group);
    else
        w8a16_kernel<4><<<dim3((N + 3) / 4, (M + 3) / 4), block, 0, stream>>>(x, q, scale, bias, out, M, N, K, group);
    return cudaGetLastError();
}
