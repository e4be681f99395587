#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <math.h>

// Max pooling 2D with padding and dilation. Padded positions do not take part.
__global__ void maxpool2d_kernel(
    const __half* __restrict__ input,
    __half* __restrict__ output,
    const int batch_size, const int channels,
    const int height, const int width,
    const int kernel_size, const int stride, const int padding, const int dilation,
    const int out_h, const int out_w)
{
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= batch_size * channels * out_h * out_w) return;

    const int ow = idx % out_w;
    const int oh = (idx / out_w) % out_h;
    const int c = (idx / (out_w * out_h)) % channels;
    const int b = idx / (out_w * out_h * channels);

    float max_val = -INFINITY;

    for (int kh = 0; kh < kernel_size; kh++) {
        for (int kw = 0; kw < kernel_size; kw++) {
            const int ih = oh * stride - padding + kh * dilation;
            const int iw = ow * stride - padding + kw * dilation;
            if (ih >= 0 && ih < height && iw >= 0 && iw < width) {
                const float v = __half2float(input[((b * channels + c) * height + ih) * width + iw]);
                max_val = fmaxf(max_val, v);
            }
        }
    }

    output[idx] = __float2half(max_val);
}

extern "C" void maxpool2d_forward(
    const __half* input, __half* output,
    int batch_size, int channels, int height, int width,
    int kernel_size, int stride, int padding, int dilation)
{
    const int out_h = (height + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1;
    const int out_w = (width + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1;

    const int total = batch_size * channels * out_h * out_w;
    const int threads = 256;
    const int blocks = (total + threads - 1) / threads;

    maxpool2d_kernel<<<blocks, threads>>>(
        input, output, batch_size, channels, height, width,
        kernel_size, stride, padding, dilation, out_h, out_w);
}
