#include "../include/chain.cuh"

constexpr int kFilter = 3;
constexpr int kPool = 2;

// valid 3x3 convolution; bias, minus s1, tanh, minus s2 are done here already
__global__ void convTanhKernel(float* __restrict__ out, const __half* __restrict__ in, const __half* __restrict__ filter,
                               const __half* __restrict__ bias, int inChannels, int outChannels, int height, int width,
                               float s1, float s2) {
    const int oh = height - kFilter + 1, ow = width - kFilter + 1;
    const int oc = blockIdx.y, b = blockIdx.z;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < oh * ow; p += gridDim.x * blockDim.x) {
        const int r = p / ow, c = p % ow;
        float acc = __half2float(bias[oc]);
        for (int ic = 0; ic < inChannels; ++ic)
            for (int t = 0; t < kFilter * kFilter; ++t)
                acc += __half2float(in[((b * inChannels + ic) * height + r + t / kFilter) * width + c + t % kFilter]) *
                       __half2float(filter[(oc * inChannels + ic) * kFilter * kFilter + t]);
        out[((size_t)b * outChannels + oc) * oh * ow + p] = tanhf(acc - s1) - s2;
    }
}

__global__ void avgPoolKernel(__half* __restrict__ out, const float* __restrict__ in, int planes, int height, int width) {
    const int ph = height / kPool, pw = width / kPool;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * ph * pw) return;
    const int c = i % pw, r = i / pw % ph, plane = i / (pw * ph);
    float sum = 0.0f;
    for (int y = 0; y < kPool; ++y)
        for (int x = 0; x < kPool; ++x) sum += in[((size_t)plane * height + r * kPool + y) * width + c * kPool + x];
    out[i] = __float2half_rn(sum / (kPool * kPool));
}

void convTanhSubAvgPool(__half* out, const __half* in, const __half* filter, const __half* bias, float* workspace,
                        int batch, int inChannels, int outChannels, int height, int width, float s1, float s2,
                        cudaStream_t stream) {
    const int oh = height - kFilter + 1, ow = width - kFilter + 1;
    const dim3 grid(divUp(oh * ow, 4 * kThreads), outChannels, batch);
    convTanhKernel<<<grid, kThreads, 0, stream>>>(workspace, in, filter, bias, inChannels, outChannels, height, width, s1, s2);
    CUDA_CHECK(cudaGetLastError());
    const int pooled = batch * outChannels * (oh / kPool) * (ow / kPool);
    avgPoolKernel<<<divUp(pooled, kThreads), kThreads, 0, stream>>>(out, workspace, batch * outChannels, oh, ow);
    CUDA_CHECK(cudaGetLastError());
}
