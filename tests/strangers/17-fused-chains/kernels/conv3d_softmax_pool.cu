#include "../include/chain.cuh"

struct Volume {
    int channels, depth, height, width;
    __host__ __device__ size_t spatial() const { return (size_t)depth * height * width; }
    __host__ __device__ size_t size() const { return channels * spatial(); }
    __device__ size_t at(int n, int c, int d, int h, int w) const {
        return (((size_t)(n * channels + c) * depth + d) * height + h) * width + w;
    }
};

// 3x3x3 convolution without padding
__global__ void conv3dKernel(float* __restrict__ out, const float* __restrict__ in, const float* __restrict__ filter,
                             const float* __restrict__ bias, Volume vi, Volume vo, int batch) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= batch * vo.size()) return;
    size_t rest = i;
    const int w = rest % vo.width; rest /= vo.width;
    const int h = rest % vo.height; rest /= vo.height;
    const int d = rest % vo.depth; rest /= vo.depth;
    const int c = rest % vo.channels;
    const int n = rest / vo.channels;

    float acc = bias[c];
    for (int ic = 0; ic < vi.channels; ++ic)
        for (int kd = 0; kd < 3; ++kd)
            for (int kh = 0; kh < 3; ++kh)
                for (int kw = 0; kw < 3; ++kw)
                    acc += in[vi.at(n, ic, d + kd, h + kh, w + kw)] *
                           filter[(((c * vi.channels + ic) * 3 + kd) * 3 + kh) * 3 + kw];
    out[i] = acc;
}

// softmax over the channels, in place
__global__ void channelSoftmaxKernel(float* data, int batch, int channels, size_t spatial) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= batch * spatial) return;
    float* p = data + (i / spatial) * channels * spatial + i % spatial;
    float best = p[0];
    for (int c = 1; c < channels; ++c) best = fmaxf(best, p[c * spatial]);
    float sum = 0.0f;
    for (int c = 0; c < channels; ++c) {
        const float e = expf(p[c * spatial] - best);
        p[c * spatial] = e;
        sum += e;
    }
    for (int c = 0; c < channels; ++c) p[c * spatial] /= sum;
}

// max pooling with a 2x2x2 window; incomplete windows are dropped
__global__ void maxPool3dKernel(float* __restrict__ out, const float* __restrict__ in, Volume vi, Volume vo, int batch) {
    const int w = blockIdx.x * blockDim.x + threadIdx.x;
    const int h = blockIdx.y * blockDim.y + threadIdx.y;
    if (w >= vo.width || h >= vo.height) return;
    const int d = blockIdx.z % vo.depth;
    const int c = blockIdx.z / vo.depth % vo.channels;
    const int n = blockIdx.z / vo.depth / vo.channels;
    float best = -INFINITY;
    for (int a = 0; a < 8; ++a) {
        best = fmaxf(best, in[vi.at(n, c, 2 * d + (a >> 2), 2 * h + ((a >> 1) & 1), 2 * w + (a & 1))]);
    }
    out[vo.at(n, c, d, h, w)] = best;
}

void conv3dSoftmaxPool(float* out, const float* in, const float* filter, const float* bias, float* workspace, int batch,
                       int inChannels, int outChannels, int depth, int height, int width, cudaStream_t stream) {
    const Volume source{inChannels, depth, height, width};
    const Volume middle{outChannels, depth - 2, height - 2, width - 2};
    const Volume pooled{outChannels, middle.depth / 2, middle.height / 2, middle.width / 2};
    const unsigned convBlocks = (unsigned)((batch * middle.size() + kThreads - 1) / kThreads);
    conv3dKernel<<<convBlocks, kThreads, 0, stream>>>(workspace, in, filter, bias, source, middle, batch);
    CUDA_CHECK(cudaGetLastError());
    const unsigned softmaxBlocks = (unsigned)((batch * middle.spatial() + 127) / 128);
    channelSoftmaxKernel<<<softmaxBlocks, 128, 0, stream>>>(workspace, batch, outChannels, middle.spatial());
    CUDA_CHECK(cudaGetLastError());
    const dim3 grid(divUp(pooled.width, 16), divUp(pooled.height, 8), batch * outChannels * pooled.depth);
    maxPool3dKernel<<<grid, dim3(16, 8), 0, stream>>>(out, workspace, middle, pooled, batch);
    CUDA_CHECK(cudaGetLastError());
}
