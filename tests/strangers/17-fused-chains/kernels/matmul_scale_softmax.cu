#include "../include/chain.cuh"

using bf16 = __nv_bfloat16;

__global__ void matmulKernel(float* __restrict__ c, const bf16* __restrict__ a, const bf16* __restrict__ b, int m, int n, int k) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && col < n) {
        float acc = 0.0f;
        for (int i = 0; i < k; ++i) acc += toFloat(a[row * k + i]) * toFloat(b[i * n + col]);
        c[row * n + col] = acc;
    }
}

__global__ void scaleKernel(float* data, float scale, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] *= scale;
}

__global__ void softmaxKernel(bf16* __restrict__ out, const float* __restrict__ in, int n) {
    __shared__ float shared[kThreads];
    const float* row = in + (size_t)blockIdx.x * n;
    float best = -INFINITY;
    for (int i = threadIdx.x; i < n; i += kThreads) best = fmaxf(best, row[i]);
    best = blockMax(best, shared);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += kThreads) sum += expf(row[i] - best);
    sum = blockSum(sum, shared);
    for (int i = threadIdx.x; i < n; i += kThreads) {
        out[(size_t)blockIdx.x * n + i] = __float2bfloat16_rn(expf(row[i] - best) / sum);
    }
}

void matmulScaleSoftmax(bf16* out, const bf16* a, const bf16* b, float* workspace, int m, int n, int k, float scale,
                        cudaStream_t stream) {
    const dim3 block(16, 16);
    const dim3 grid(divUp(n, 16), divUp(m, 16));
    matmulKernel<<<grid, block, 0, stream>>>(workspace, a, b, m, n, k);
    scaleKernel<<<divUp(m * n, kThreads), kThreads, 0, stream>>>(workspace, scale, m * n);
    softmaxKernel<<<m, kThreads, 0, stream>>>(out, workspace, n);
    CUDA_CHECK(cudaGetLastError());
}
