#include <cuda_runtime.h>
#include <cuda_fp16.h>

// Standard 2D convolution, NCHW input, KCRS weight.
// One thread computes one output element, accumulation in float.
__global__ void conv2d_forward_kernel(
    const __half* __restrict__ input,
    const __half* __restrict__ weight,
    const __half* __restrict__ bias,
    __half* __restrict__ output,
    int N, int C, int H, int W,
    int K, int R, int S,
    int stride, int padding, int dilation, int groups,
    int out_h, int out_w)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int total = N * K * out_h * out_w;
    if (idx >= total) return;

    // Decompose the linear index
    int ow = idx % out_w;
    int oh = (idx / out_w) % out_h;
    int k  = (idx / (out_w * out_h)) % K;
    int n  = idx / (out_w * out_h * K);

    int channels_per_group = C / groups;
    int filters_per_group = K / groups;
    int g = k / filters_per_group;

    float sum = __half2float(bias[k]);

    for (int c = 0; c < channels_per_group; ++c) {
        int in_c = g * channels_per_group + c;
        for (int r = 0; r < R; ++r) {
            int ih = oh * stride - padding + r * dilation;
            if (ih < 0 || ih >= H) continue;
            for (int s = 0; s < S; ++s) {
                int iw = ow * stride - padding + s * dilation;
                if (iw < 0 || iw >= W) continue;
                float x = __half2float(input[((n * C + in_c) * H + ih) * W + iw]);
                float w = __half2float(weight[((k * channels_per_group + c) * R + r) * S + s]);
                sum += x * w;
            }
        }
    }

    output[idx] = __float2half(sum);
}

extern "C" void conv2d_forward(
    const __half* input, const __half* weight, const __half* bias, __half* output,
    int N, int C, int H, int W, int K, int R, int S,
    int stride, int padding, int dilation, int groups)
{
    int out_h = (H + 2 * padding - dilation * (R - 1) - 1) / stride + 1;
    int out_w = (W + 2 * padding - dilation * (S - 1) - 1) / stride + 1;

    int total = N * K * out_h * out_w;
    int threads = 256;
    int blocks = (total + threads - 1) / threads;

    conv2d_forward_kernel<<<blocks, threads>>>(
        input, weight, bias, output,
        N, C, H, W, K, R, S,
        stride, padding, dilation, groups, out_h, out_w);
}
