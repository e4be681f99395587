#include <cuda_runtime.h>
#include <cuda_fp16.h>

// Depthwise convolution: one thread per output element
__global__ void depthwise_kernel(
    const __half* __restrict__ input,
    const __half* __restrict__ weight,
    __half* __restrict__ output,
    int N, int C, int H, int W, int R, int S,
    int stride, int padding, int dilation, int out_h, int out_w)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N * C * out_h * out_w) return;

    int ow = idx % out_w;
    int oh = (idx / out_w) % out_h;
    int c  = (idx / (out_w * out_h)) % C;
    int n  = idx / (out_w * out_h * C);

    float sum = 0.0f;
    for (int r = 0; r < R; ++r) {
        for (int s = 0; s < S; ++s) {
            int ih = oh * stride - padding + r * dilation;
            int iw = ow * stride - padding + s * dilation;
            if (ih >= 0 && ih < H && iw >= 0 && iw < W) {
                sum += __half2float(input[((n * C + c) * H + ih) * W + iw]) *
                       __half2float(weight[(c * R + r) * S + s]);
            }
        }
    }
    output[idx] = __float2half(sum);
}

// Pointwise convolution: one thread per output element
__global__ void pointwise_kernel(
    const __half* __restrict__ input,
    const __half* __restrict__ weight,
    __half* __restrict__ output,
    int N, int C, int K, int out_h, int out_w)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N * K * out_h * out_w) return;

    int spatial = out_h * out_w;
    int p = idx % spatial;
    int k = (idx / spatial) % K;
    int n = idx / (spatial * K);

    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        sum += __half2float(input[(n * C + c) * spatial + p]) * __half2float(weight[k * C + c]);
    }
    output[idx] = __float2half(sum);
}

extern "C" void depthwise_separable_conv2d(
    const __half* input, const __half* dw_weight, const __half* pw_weight,
    __half* intermediate, __half* output,
    int N, int C, int H, int W, int K, int R, int S,
    int stride, int padding, int dilation)
{
    int out_h = (H + 2 * padding - dilation * (R - 1) - 1) / stride + 1;
    int out_w = (W + 2 * padding - dilation * (S - 1) - 1) / stride + 1;
    const int threads = 256;

    int total_dw = N * C * out_h * out_w;
    depthwise_kernel<<<(total_dw + threads - 1) / threads, threads>>>(
        input, dw_weight, intermediate, N, C, H, W, R, S,
        stride, padding, dilation, out_h, out_w);

    int total_pw = N * K * out_h * out_w;
    pointwise_kernel<<<(total_pw + threads - 1) / threads, threads>>>(
        intermediate, pw_weight, output, N, C, K, out_h, out_w);
}
