// Bicubic resize of planes, half-pixel centres, edge samples repeated, a = -0.75 (what everyone else seems to use).
#include <cuda_runtime.h>

#define A (-0.75f)
#define INNER(t) (((A + 2.0f) * (t) - (A + 3.0f)) * (t) * (t) + 1.0f)
#define OUTER(t) (((A * (t) - 5.0f * A) * (t) + 8.0f * A) * (t) - 4.0f * A)
#define CLAMP(v, hi) ((v) < 0 ? 0 : ((v) > (hi) ? (hi) : (v)))

__device__ void cubic_weights(float f, float w[4])
{
    w[0] = OUTER(f + 1.0f);
    w[1] = INNER(f);
    w[2] = INNER(1.0f - f);
    w[3] = OUTER(2.0f - f);
}

__global__ void bicubic_kernel(const float *src, float *dst, int H, int W, int OH, int OW, float sy, float sx)
{
    int ox = blockIdx.x * blockDim.x + threadIdx.x;
    int oy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ox >= OW || oy >= OH)
        return;
    const float *plane = src + (size_t)blockIdx.z * H * W;

    float fy = (oy + 0.5f) * sy - 0.5f;
    float fx = (ox + 0.5f) * sx - 0.5f;
    int iy = (int)floorf(fy);
    int ix = (int)floorf(fx);
    float wy[4], wx[4];
    cubic_weights(fy - iy, wy);
    cubic_weights(fx - ix, wx);

    float sum = 0.0f;
    for (int j = 0; j < 4; j++) {
        int y = CLAMP(iy - 1 + j, H - 1);
        float row = 0.0f;
        for (int i = 0; i < 4; i++) {
            int x = CLAMP(ix - 1 + i, W - 1);
            row += wx[i] * plane[(size_t)y * W + x];
        }
        sum += wy[j] * row;
    }
    dst[((size_t)blockIdx.z * OH + oy) * OW + ox] = sum;
}

extern "C" void bicubic_resize(const float *src, float *dst, int planes, int H, int W, int OH, int OW)
{
    dim3 block(16, 16);
    dim3 grid((OW + 15) / 16, (OH + 15) / 16, planes);
    bicubic_kernel<<<grid, block>>>(src, dst, H, W, OH, OW, (float)H / OH, (float)W / OW);
}
