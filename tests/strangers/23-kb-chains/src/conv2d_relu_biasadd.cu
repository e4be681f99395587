#include <cuda_runtime.h>
#include <cuda_fp16.h>

// Conv2d (valid, stride 1) followed by ReLU and the addition of a per-channel bias.

__global__ void conv2d_kernel(
    const __half* __restrict__ x,
    const __half* __restrict__ w,
    const __half* __restrict__ conv_bias,
    __half* __restrict__ out,
    int N, int C, int H, int W, int K, int R, int S, int OH, int OW)
{
    int ow = blockIdx.x * blockDim.x + threadIdx.x;
    int oh = blockIdx.y * blockDim.y + threadIdx.y;
    int nk = blockIdx.z;
    if (ow >= OW || oh >= OH) return;

    int n = nk / K;
    int k = nk % K;

    float sum = __half2float(conv_bias[k]);
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) {
            for (int s = 0; s < S; ++s) {
                float xv = __half2float(x[((n * C + c) * H + (oh + r)) * W + (ow + s)]);
                float wv = __half2float(w[((k * C + c) * R + r) * S + s]);
                sum += xv * wv;
            }
        }
    }
    out[((n * K + k) * OH + oh) * OW + ow] = __float2half(sum);
}

// In-place ReLU + bias
__global__ void relu_bias_kernel(__half* __restrict__ data, const __half* __restrict__ bias,
                                 int total, int K, int spatial)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < total) {
        int k = (idx / spatial) % K;
        float v = __half2float(data[idx]);
        v = v > 0.0f ? v : 0.0f;
        data[idx] = __float2half(v + __half2float(bias[k]));
    }
}

extern "C" void conv2d_relu_biasadd(
    const __half* x, const __half* w, const __half* conv_bias, const __half* bias, __half* out,
    int N, int C, int H, int W, int K, int R, int S)
{
    int OH = H - R + 1;
    int OW = W - S + 1;

    dim3 threads(16, 16);
    dim3 blocks((OW + 15) / 16, (OH + 15) / 16, N * K);
    conv2d_kernel<<<blocks, threads>>>(x, w, conv_bias, out, N, C, H, W, K, R, S, OH, OW);

    int total = N * K * OH * OW;
    relu_bias_kernel<<<(total + 255) / 256, 256>>>(out, bias, total, K, OH * OW);
}
