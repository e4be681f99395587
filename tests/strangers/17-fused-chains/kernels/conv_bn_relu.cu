#include "../include/chain.cuh"

// 3x3 convolution, padding 1, NCHW
__global__ void conv3x3Kernel(float* __restrict__ out, const float* __restrict__ in, const float* __restrict__ filter,
                              int batch, int inChannels, int outChannels, int height, int width) {
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    const int oc = blockIdx.y;
    const int b = blockIdx.z;
    if (pixel >= height * width) return;
    const int row = pixel / width;
    const int col = pixel - row * width;

    float acc = 0.0f;
    for (int ic = 0; ic < inChannels; ++ic) {
        const float* plane = in + ((size_t)b * inChannels + ic) * height * width;
        const float* f = filter + ((size_t)oc * inChannels + ic) * 9;
#pragma unroll
        for (int dy = -1; dy <= 1; ++dy) {
#pragma unroll
            for (int dx = -1; dx <= 1; ++dx) {
                const int r = row + dy, c = col + dx;
                if (r >= 0 && r < height && c >= 0 && c < width) {
                    acc += plane[r * width + c] * f[(dy + 1) * 3 + dx + 1];
                }
            }
        }
    }
    out[(((size_t)b * outChannels + oc) * height + row) * width + col] = acc;
}

__global__ void batchNormKernel(float* __restrict__ out, const float* __restrict__ in, const float* __restrict__ mean,
                                const float* __restrict__ var, const float* __restrict__ gamma,
                                const float* __restrict__ beta, int channels, int plane, size_t count, float eps) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int c = (i / plane) % channels;
    out[i] = (in[i] - mean[c]) * rsqrtf(var[c] + eps) * gamma[c] + beta[c];
}

__global__ void reluKernel(float* __restrict__ data, size_t count) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count) data[i] = fmaxf(data[i], 0.0f);
}

void convBnRelu(float* out, const float* in, const float* filter, const float* mean, const float* var,
                const float* gamma, const float* beta, float* convOut, int batch, int inChannels, int outChannels,
                int height, int width, float eps, cudaStream_t stream) {
    const int plane = height * width;
    const dim3 grid(divUp(plane, kThreads), outChannels, batch);
    conv3x3Kernel<<<grid, kThreads, 0, stream>>>(convOut, in, filter, batch, inChannels, outChannels, height, width);
    CUDA_CHECK(cudaGetLastError());
    const size_t count = (size_t)batch * outChannels * plane;
    const unsigned blocks = (unsigned)((count + kThreads - 1) / kThreads);
    batchNormKernel<<<blocks, kThreads, 0, stream>>>(out, convOut, mean, var, gamma, beta, outChannels, plane, count, eps);
    CUDA_CHECK(cudaGetLastError());
    reluKernel<<<blocks, kThreads, 0, stream>>>(out, count);
    CUDA_CHECK(cudaGetLastError());
}
