#include "../include/chain.cuh"

using bf16 = __nv_bfloat16;

__global__ void biasReluKernel(bf16* __restrict__ hidden, const float* __restrict__ pre, const bf16* __restrict__ bias,
                               int width, size_t count) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= count) return;
    hidden[i] = __float2bfloat16_rn(fmaxf(pre[i] + __bfloat162float(bias[i % width]), 0.0f));
}

// y = relu(x * w1^T + b1) * w2^T + b2
void mlpForward(bf16* y, const bf16* x, const bf16* w1, const bf16* b1, const bf16* w2, const bf16* b2, float* pre,
                bf16* hidden, int batch, int inSize, int hiddenSize, int outSize, cudaStream_t stream) {
    const dim3 block(16, 16);
    linearKernel<bf16, float><<<dim3(divUp(hiddenSize, 16), divUp(batch, 16)), block, 0, stream>>>(
        pre, x, w1, nullptr, batch, hiddenSize, inSize);
    CUDA_CHECK(cudaGetLastError());
    const size_t count = (size_t)batch * hiddenSize;
    biasReluKernel<<<(unsigned)((count + kThreads - 1) / kThreads), kThreads, 0, stream>>>(hidden, pre, b1, hiddenSize, count);
    CUDA_CHECK(cudaGetLastError());
    linearKernel<bf16, bf16><<<dim3(divUp(outSize, 16), divUp(batch, 16)), block, 0, stream>>>(
        y, hidden, w2, b2, batch, outSize, hiddenSize);
    CUDA_CHECK(cudaGetLastError());
}
