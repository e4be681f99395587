// Learned 2x upsampling: depthwise ConvTranspose2d(C, C, kernel 4, stride 2, padding 1, groups C), NHWC, half.
//   x [N, H, W, C]    w [4, 4, C]    b [C] (float)    y [N, 2H, 2W, C]
//
// Gather formulation: each output pixel has at most 2 x 2 contributing inputs.

#include <cuda_fp16.h>

__global__ void upconv_dw4s2(const half* x, const half* w, const float* b, half* y, int N, int H, int W, int C)
{
    const int OH = 2 * H, OW = 2 * W;
    const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long)N * OH * OW * C) return;

    const int c  = i % C;
    const int ox = i / C % OW;
    const int oy = i / C / OW % OH;
    const int n  = i / C / OW / OH;

    float v = b[c];
    for (int ky = 0; ky < 4; ++ky)
    {
        const int ty = oy + 1 - ky;
        if (ty < 0 || ty % 2 != 0 || ty / 2 >= H) continue;
        for (int kx = 0; kx < 4; ++kx)
        {
            const int tx = ox + 1 - kx;
            if (tx < 0 || tx % 2 != 0 || tx / 2 >= W) continue;
            const half xv = x[(((long)n * H + ty / 2) * W + tx / 2) * C + c];
            v += __half2float(xv) * __half2float(w[(ky * 4 + kx) * C + c]);
        }
    }
    y[i] = __float2half_rn(v);
}

void convtr_depthwise_nhwc(const half* x, const half* w, const float* b, half* y, int N, int H, int W, int C, cudaStream_t s)
{
    const long total = 4L * N * H * W * C;
    upconv_dw4s2<<<(unsigned)((total + 255) / 256), 256, 0, s>>>(x, w, b, y, N, H, W, C);
}
