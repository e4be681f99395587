#include "../include/chain.cuh"

// ConvTranspose2d with stride 2, padding 1, output padding 1 and a 3x3 kernel: the output is twice as large.
// filter is [inChannels][outChannels][3][3].
__global__ void convTransposeKernel(__half* __restrict__ out, const __half* __restrict__ in,
                                    const __half* __restrict__ filter, const __half* __restrict__ bias, int inChannels,
                                    int outChannels, int height, int width) {
    const int outHeight = 2 * height, outWidth = 2 * width;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int b = blockIdx.z / outChannels;
    const int oc = blockIdx.z % outChannels;
    if (x >= outWidth || y >= outHeight) return;

    float acc = __half2float(bias[oc]);
    for (int ic = 0; ic < inChannels; ++ic) {
        for (int kh = 0; kh < 3; ++kh) {
            const int ty = y + 1 - kh;
            if (ty < 0 || ty % 2 != 0 || ty / 2 >= height) continue;
            for (int kw = 0; kw < 3; ++kw) {
                const int tx = x + 1 - kw;
                if (tx < 0 || tx % 2 != 0 || tx / 2 >= width) continue;
                const float v = __half2float(in[(((size_t)b * inChannels + ic) * height + ty / 2) * width + tx / 2]);
                const float f = __half2float(filter[((ic * outChannels + oc) * 3 + kh) * 3 + kw]);
                acc += v * f;
            }
        }
    }
    out[(((size_t)b * outChannels + oc) * outHeight + y) * outWidth + x] = __float2half_rn(acc);
}

struct Hardswish {
    __device__ float operator()(float v) const { return v * fminf(fmaxf(v + 3.0f, 0.0f), 6.0f) / 6.0f; }
};

// v = a + b; out = v * f(v)
template <typename F>
__global__ void addGateKernel(__half* out, const __half* a, const __half* b, size_t count, F f) {
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += stride) {
        const float v = __half2float(a[i]) + __half2float(b[i]);
        out[i] = __float2half_rn(v * f(v));
    }
}

void convTransposeAddHardswish(__half* out, const __half* in, const __half* addend, const __half* filter,
                               const __half* bias, __half* workspace, int batch, int inChannels, int outChannels,
                               int height, int width, cudaStream_t stream) {
    const dim3 block(32, 4);
    const dim3 grid(divUp(2 * width, 32), divUp(2 * height, 4), batch * outChannels);
    convTransposeKernel<<<grid, block, 0, stream>>>(workspace, in, filter, bias, inChannels, outChannels, height, width);
    CUDA_CHECK(cudaGetLastError());
    const size_t count = (size_t)batch * outChannels * 4 * height * width;
    addGateKernel<<<1024, kThreads, 0, stream>>>(out, workspace, addend, count, Hardswish());
    CUDA_CHECK(cudaGetLastError());
}
