// MobileNetV2 inverted residual, stride 1, batch norms folded to scale and shift (inference).
#include <cuda_fp16.h>

#define RELU6(v) fminf(fmaxf((v), 0.0f), 6.0f)

__global__ void expand1x1(const half* x, const half* w, const float* scale, const float* shift, half* e, int C, int E,
                          int HW)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int o = blockIdx.y;
    int n = blockIdx.z;
    if (p >= HW) return;
    float sum = 0.0f;
    for (int c = 0; c < C; c++) sum += __half2float(x[(n * C + c) * HW + p]) * __half2float(w[o * C + c]);
    e[(n * E + o) * HW + p] = __float2half(RELU6(sum * scale[o] + shift[o]));
}

__global__ void depthwise3x3(const half* e, const half* w, const float* scale, const float* shift, half* d, int E, int H,
                             int W)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int o = blockIdx.y;
    int n = blockIdx.z;
    if (p >= H * W) return;
    int y = p / W, x = p % W;
    const half* plane = e + (n * E + o) * H * W;
    float sum = 0.0f;
    for (int k = 0; k < 9; k++) {
        int yy = y + k / 3 - 1, xx = x + k % 3 - 1;
        if (yy < 0 || yy >= H || xx < 0 || xx >= W) continue;
        sum += __half2float(plane[yy * W + xx]) * __half2float(w[o * 9 + k]);
    }
    d[(n * E + o) * H * W + p] = __float2half(RELU6(sum * scale[o] + shift[o]));
}

__global__ void project1x1(const half* d, const half* w, const float* scale, const float* shift, const half* x, half* out,
                           int C, int E, int HW)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int o = blockIdx.y;
    int n = blockIdx.z;
    if (p >= HW) return;
    float sum = 0.0f;
    for (int c = 0; c < E; c++) sum += __half2float(d[(n * E + c) * HW + p]) * __half2float(w[o * E + c]);
    int at = (n * C + o) * HW + p;
    out[at] = __float2half(sum * scale[o] + shift[o] + __half2float(x[at]));
}

void inverted_residual(half* out, const half* x, const half* w1, const half* w2, const half* w3, const float* s1,
                       const float* b1, const float* s2, const float* b2, const float* s3, const float* b3, half* e,
                       half* d, int N, int C, int E, int H, int W)
{
    int HW = H * W;
    int blocks = (HW + 127) / 128;
    expand1x1<<<dim3(blocks, E, N), 128>>>(x, w1, s1, b1, e, C, E, HW);
    depthwise3x3<<<dim3(blocks, E, N), 128>>>(e, w2, s2, b2, d, E, H, W);
    project1x1<<<dim3(blocks, C, N), 128>>>(d, w3, s3, b3, x, out, C, E, HW);
}
