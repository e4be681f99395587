#include "../include/chain.cuh"

using bf16 = __nv_bfloat16;

// logsumexp over the features, then LeakyReLU and GELU (erf)
__global__ void logSumExpKernel(float* __restrict__ out, const float* __restrict__ in, int rows, int features, float slope) {
    const int lane = threadIdx.x & 31;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (row >= rows) return;
    const float* p = in + (size_t)row * features;
    float best = -INFINITY;
    for (int i = lane; i < features; i += 32) best = fmaxf(best, p[i]);
    for (int offset = 16; offset > 0; offset >>= 1) best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, offset));
    float sum = 0.0f;
    for (int i = lane; i < features; i += 32) sum += expf(p[i] - best);
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0) {
        float v = logf(sum) + best;
        v = v > 0.0f ? v : slope * v;
        out[row] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
    }
}

void linearLogSumExpActivations(float* out, const bf16* x, const bf16* weight, const bf16* bias, float* workspace,
                                int rows, int features, int inner, float slope, cudaStream_t stream) {
    const dim3 block(16, 16);
    const dim3 grid(divUp(features, 16), divUp(rows, 16));
    linearKernel<bf16, float><<<grid, block, 0, stream>>>(workspace, x, weight, bias, rows, features, inner);
    CUDA_CHECK(cudaGetLastError());
    logSumExpKernel<<<divUp(rows * 32, 128), 128, 0, stream>>>(out, workspace, rows, features, slope);
    CUDA_CHECK(cudaGetLastError());
}
