#include <cuda_runtime.h>
#include <cuda_fp16.h>

// Transposed 2D convolution (gather formulation).
// input  [N, C, H, W], weight [C, K / groups, R, S], output [N, K, out_h, out_w]
__global__ void conv_transpose2d_kernel(
    const __half* __restrict__ input,
    const __half* __restrict__ weight,
    const __half* __restrict__ bias,
    __half* __restrict__ output,
    int N, int C, int H, int W, int K, int R, int S,
    int stride, int padding, int dilation, int groups,
    int out_h, int out_w)
{
    int ow = blockIdx.x * blockDim.x + threadIdx.x;
    int oh = blockIdx.y * blockDim.y + threadIdx.y;
    int nk = blockIdx.z;
    if (ow >= out_w || oh >= out_h) return;

    int k = nk % K;
    int n = nk / K;
    int k_per_group = K / groups;
    int c_per_group = C / groups;
    int g = k / k_per_group;
    int k_local = k % k_per_group;

    float sum = __half2float(bias[k]);

    for (int c = 0; c < c_per_group; ++c) {
        int ic = g * c_per_group + c;
        for (int r = 0; r < R; ++r) {
            int h_in = oh + padding - r * dilation;
            // The position must be a multiple of the stride
            if (h_in < 0 || h_in % stride != 0) continue;
            int ih = h_in / stride;
            if (ih >= H) continue;
            for (int s = 0; s < S; ++s) {
                int w_in = ow + padding - s * dilation;
                if (w_in < 0 || w_in % stride != 0) continue;
                int iw = w_in / stride;
                if (iw >= W) continue;

                int input_idx = ((n * C + ic) * H + ih) * W + iw;
                int weight_idx = ((ic * k_per_group + k_local) * R + r) * S + s;
                sum += __half2float(input[input_idx]) * __half2float(weight[weight_idx]);
            }
        }
    }

    output[((n * K + k) * out_h + oh) * out_w + ow] = __float2half(sum);
}

extern "C" void conv_transpose2d_forward(
    const __half* input, const __half* weight, const __half* bias, __half* output,
    int N, int C, int H, int W, int K, int R, int S,
    int stride, int padding, int output_padding, int dilation, int groups)
{
    int out_h = (H - 1) * stride - 2 * padding + dilation * (R - 1) + output_padding + 1;
    int out_w = (W - 1) * stride - 2 * padding + dilation * (S - 1) + output_padding + 1;

    dim3 block(16, 16);
    dim3 grid((out_w + block.x - 1) / block.x, (out_h + block.y - 1) / block.y, N * K);

    conv_transpose2d_kernel<<<grid, block>>>(
        input, weight, bias, output,
        N, C, H, W, K, R, S, stride, padding, dilation, groups, out_h, out_w);
}
