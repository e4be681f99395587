// nn.AvgPool3d(kernel, stride, padding), count_include_pad=True, for half tensors
#include <cuda_fp16.h>
#include <cuda_runtime.h>

template <typename scalar_t>
__global__ void avg_pool3d_kernel(const scalar_t* __restrict__ input, scalar_t* __restrict__ output, int NC, int D,
                                  int H, int W, int OD, int OH, int OW, int kernel, int stride, int padding)
{
    const int ow = blockIdx.x * blockDim.x + threadIdx.x;
    const int oh = blockIdx.y * blockDim.y + threadIdx.y;
    if (ow >= OW || oh >= OH) return;

    for (int zc = blockIdx.z; zc < NC * OD; zc += gridDim.z) {
        const int od = zc % OD;
        const int nc = zc / OD;

        const int d0 = max(od * stride - padding, 0), d1 = min(od * stride - padding + kernel, D);
        const int h0 = max(oh * stride - padding, 0), h1 = min(oh * stride - padding + kernel, H);
        const int w0 = max(ow * stride - padding, 0), w1 = min(ow * stride - padding + kernel, W);

        float sum = 0.f;
        for (int d = d0; d < d1; ++d)
            for (int h = h0; h < h1; ++h)
                for (int w = w0; w < w1; ++w)
                    sum += static_cast<float>(input[(((size_t)nc * D + d) * H + h) * W + w]);
        output[(((size_t)nc * OD + od) * OH + oh) * OW + ow] =
            static_cast<scalar_t>(sum / (float)(kernel * kernel * kernel));
    }
}

void avg_pool3d_half(const __half* input, __half* output, int N, int C, int D, int H, int W, int kernel, int stride,
                     int padding, cudaStream_t stream)
{
    if (kernel <= 0 || stride <= 0 || padding < 0 || 2 * padding > kernel) return;
    if (D + 2 * padding < kernel || H + 2 * padding < kernel || W + 2 * padding < kernel) return;
    const int OD = (D + 2 * padding - kernel) / stride + 1;
    const int OH = (H + 2 * padding - kernel) / stride + 1;
    const int OW = (W + 2 * padding - kernel) / stride + 1;
    if (N <= 0 || C <= 0 || (long long)N * C * OD > 2147400000LL) return;
    const int planes = N * C * OD;
    dim3 block(16, 16);
    dim3 grid((OW + 15) / 16, (OH + 15) / 16, planes < 65535 ? planes : 65535);
    avg_pool3d_kernel<__half><<<grid, block, 0, stream>>>(input, output, N * C, D, H, W, OD, OH, OW, kernel, stride,
                                                          padding);
}
