/*
    conv3d 3x3x3 (valid) + bias -> leaky relu -> min(., cap) -> maxpool3d(2) -> softsign -> mean over the volume

    x    N x Ci x D x H x W
    w    Co x Ci x 3 x 3 x 3
    y    N x Co
*/
#include <cuda_runtime.h>

static inline int divUp(int a, int b) { return (a + b - 1) / b; }

struct Vol
{
    int d, h, w;
    __host__ __device__ int size() const { return d * h * w; }
};

__global__ void k_conv(const float* x, const float* w, const float* bias, float* t, int Ci, int Co, Vol in, Vol out,
                       float slope, float cap)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= out.size()) return;
    int co = blockIdx.y, n = blockIdx.z;
    int ow = i % out.w, oh = i / out.w % out.h, od = i / out.w / out.h;

    float s = bias[co];
    for (int ci = 0; ci < Ci; ++ci)
    {
        const float* src = x + (size_t)(n * Ci + ci) * in.size();
        const float* f = w + (co * Ci + ci) * 27;
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b)
                for (int c = 0; c < 3; ++c)
                    s += f[(a * 3 + b) * 3 + c] * src[((od + a) * in.h + oh + b) * in.w + ow + c];
    }
    s = s >= 0 ? s : s * slope;
    t[(size_t)(n * Co + co) * out.size() + i] = fminf(s, cap);
}

__global__ void k_pool(const float* t, float* p, Vol in, Vol out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= out.size()) return;
    int ow = i % out.w, oh = i / out.w % out.h, od = i / out.w / out.h;

    const float* src = t + (size_t)blockIdx.y * in.size();
    float best = src[(2 * od * in.h + 2 * oh) * in.w + 2 * ow];
    for (int k = 1; k < 8; ++k)
        best = fmaxf(best, src[((2 * od + k / 4) * in.h + 2 * oh + k / 2 % 2) * in.w + 2 * ow + k % 2]);
    p[(size_t)blockIdx.y * out.size() + i] = best / (1.0f + fabsf(best));
}

__global__ void k_mean(const float* p, float* y, int size)
{
    __shared__ float s[128];
    float sum = 0;
    for (int i = threadIdx.x; i < size; i += 128) sum += p[(size_t)blockIdx.x * size + i];
    s[threadIdx.x] = sum;
    for (int half = 64; half >= 1; half >>= 1)
    {
        __syncthreads();
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0] / size;
}

void conv3d_leaky_pool_mean(const float* x, const float* w, const float* bias, float* t, float* p, float* y, int N,
                            int Ci, int Co, int D, int H, int W, float slope, float cap)
{
    Vol vx = {D, H, W}, vt = {D - 2, H - 2, W - 2}, vp = {(D - 2) / 2, (H - 2) / 2, (W - 2) / 2};
    k_conv<<<dim3(divUp(vt.size(), 128), Co, N), 128>>>(x, w, bias, t, Ci, Co, vx, vt, slope, cap);
    k_pool<<<dim3(divUp(vp.size(), 128), N * Co), 128>>>(t, p, vt, vp);
    k_mean<<<N * Co, 128>>>(p, y, vp.size());
}
