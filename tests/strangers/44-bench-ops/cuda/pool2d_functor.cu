#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Pooling with a reduction functor; only max is instantiated at the moment.
struct MaxReduce {
    __device__ static float identity() { return -INFINITY; }
    __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

struct Pool2dParams {
    int planes, in_h, in_w, out_h, out_w;
    int kernel, stride, pad, dilation;
};

template <class Reduce>
__global__ void pool2d(const __half* __restrict__ src, __half* __restrict__ dst, Pool2dParams p, Reduce reduce) {
    const long total = (long)p.planes * p.out_h * p.out_w;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += (long)gridDim.x * blockDim.x) {
        const int ow = i % p.out_w;
        const int oh = (i / p.out_w) % p.out_h;
        const long plane = i / ((long)p.out_w * p.out_h);
        const __half* in = src + plane * p.in_h * p.in_w;

        float best = Reduce::identity();
        for (int r = 0; r < p.kernel; ++r) {
            const int h = oh * p.stride - p.pad + r * p.dilation;
            if (h < 0 || h >= p.in_h) continue;
            for (int s = 0; s < p.kernel; ++s) {
                const int w = ow * p.stride - p.pad + s * p.dilation;
                if (w < 0 || w >= p.in_w) continue;
                best = reduce(best, __half2float(in[h * p.in_w + w]));
            }
        }
        dst[i] = __float2half(best);
    }
}

void max_pool2d(__half* dst, const __half* src, int planes, int height, int width, int kernel, int stride, int pad, int dilation,
                cudaStream_t stream = 0) {
    Pool2dParams p;
    p.planes = planes;
    p.in_h = height;
    p.in_w = width;
    p.kernel = kernel;
    p.stride = stride;
    p.pad = pad;
    p.dilation = dilation;
    p.out_h = (height + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    p.out_w = (width + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    const long total = (long)planes * p.out_h * p.out_w;
    long blocks = (total + 255) / 256;
    if (blocks > 65535) blocks = 65535;
    pool2d<MaxReduce><<<(unsigned)blocks, 256, 0, stream>>>(src, dst, p, MaxReduce());
}
