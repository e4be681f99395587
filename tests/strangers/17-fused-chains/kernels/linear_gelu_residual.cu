#include "../include/chain.cuh"

// GELU with the tanh approximation, then the residual connection
__global__ void geluResidualKernel(__half* __restrict__ y, const float* __restrict__ pre,
                                   const __half* __restrict__ residual, size_t count) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        const float v = pre[i];
        const float t = tanhf(0.7978845608f * (v + 0.044715f * v * v * v));
        const float g = 0.5f * v * (1.0f + t);
        y[i] = __float2half_rn(g + __half2float(residual[i]));
    }
}

void linearGeluResidual(__half* y, const __half* x, const __half* weight, const __half* bias, const __half* residual,
                        float* workspace, int m, int n, int k, cudaStream_t stream) {
    const dim3 block(16, 16);
    const dim3 grid(divUp(n, 16), divUp(m, 16));
    linearKernel<__half, float><<<grid, block, 0, stream>>>(workspace, x, weight, bias, m, n, k);
    CUDA_CHECK(cudaGetLastError());
    const size_t count = (size_t)m * n;
    const int blocks = count / kThreads + 1 < 4096 ? (int)(count / kThreads + 1) : 4096;
    geluResidualKernel<<<blocks, kThreads, 0, stream>>>(y, workspace, residual, count);
    CUDA_CHECK(cudaGetLastError());
}
