// NCHW floats to NHWC bfloat16 with a border of zeros around each image, and channels filled up to a multiple of 8,
// which is what the tensor core convolutions downstream want.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#define FOR_EACH(i, n)                                                                            \
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (size_t)gridDim.x * blockDim.x)

__global__ void nchw_to_nhwc_pad(const float* in, __nv_bfloat16* out, size_t total, int c, int h, int w, int pad,
                                 int c8)
{
    const int oh = h + 2 * pad;
    const int ow = w + 2 * pad;
    FOR_EACH(i, total)
    {
        size_t rest = i;
        const int ci = rest % c8;
        rest /= c8;
        const int x = (int)(rest % ow) - pad;
        rest /= ow;
        const int y = (int)(rest % oh) - pad;
        const size_t img = rest / oh;

        float v = 0.0f;
        if (ci < c && x >= 0 && x < w && y >= 0 && y < h) v = in[((img * c + ci) * h + y) * w + x];
        out[i] = __float2bfloat16(v);
    }
}

int pack_nhwc_bf16(const float* in, __nv_bfloat16* out, int n, int c, int h, int w, int pad)
{
    const int c8 = (c + 7) / 8 * 8;
    const size_t total = (size_t)n * (h + 2 * pad) * (w + 2 * pad) * c8;
    if (total == 0) return 0;
    size_t blocks = (total + 255) / 256;
    if (blocks > 8192) blocks = 8192;
    nchw_to_nhwc_pad<<<(int)blocks, 256>>>(in, out, total, c, h, w, pad, c8);
    return (int)cudaGetLastError();
}
