#include "../include/chain.cuh"

// one block per (row, group)
__global__ void groupNormKernel(float* __restrict__ data, const float* __restrict__ gamma,
                                const float* __restrict__ beta, int features, int groupSize, float eps) {
    __shared__ float shared[kThreads];
    const int row = blockIdx.x, group = blockIdx.y;
    float* p = data + (size_t)row * features + (size_t)group * groupSize;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < groupSize; i += blockDim.x) sum += p[i];
    const float mean = blockSum(sum, shared) / groupSize;
    float sq = 0.0f;
    for (int i = threadIdx.x; i < groupSize; i += blockDim.x) sq += (p[i] - mean) * (p[i] - mean);
    const float rstd = rsqrtf(blockSum(sq, shared) / groupSize + eps);
    for (int i = threadIdx.x; i < groupSize; i += blockDim.x) {
        const int feature = group * groupSize + i;
        p[i] = (p[i] - mean) * rstd * gamma[feature] + beta[feature];
    }
}

// out[row] = min over features + shift
__global__ void rowMinKernel(float* __restrict__ out, const float* __restrict__ data, int rows, int features, float shift) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float best = data[(size_t)row * features];
    for (int i = 1; i < features; ++i) best = fminf(best, data[(size_t)row * features + i]);
    out[row] = best + shift;
}

void gemmGroupNormMin(float* out, const float* x, const float* weight, const float* bias, const float* gamma,
                      const float* beta, float* workspace, int rows, int features, int inner, int groups, float shift,
                      cudaStream_t stream) {
    const dim3 block(32, 8);
    const dim3 grid(divUp(features, 32), divUp(rows, 8));
    linearKernel<float, float><<<grid, block, 0, stream>>>(workspace, x, weight, bias, rows, features, inner);
    CUDA_CHECK(cudaGetLastError());
    groupNormKernel<<<dim3(rows, groups), kThreads, 0, stream>>>(workspace, gamma, beta, features, features / groups, 1e-5f);
    CUDA_CHECK(cudaGetLastError());
    rowMinKernel<<<divUp(rows, 128), 128, 0, stream>>>(out, workspace, rows, features, shift);
    CUDA_CHECK(cudaGetLastError());
}
