// ConvTranspose1d with stride, padding and dilation (KernelBench L1, fp16).
#include <cuda_fp16.h>
#include <cuda_runtime.h>

/*
 * Gather formulation: every output position collects the inputs which reach it.
 *   o = i * stride - padding + k * dilation   =>   i = (o + padding - k * dilation) / stride
 * if this is an integer inside [0, L).
 */
__global__ void conv_transpose1d_kernel(
    const __half* __restrict__ input,    // [B, Cin, L]
    const __half* __restrict__ weight,   // [Cin, Cout, K]
    __half* __restrict__ output,         // [B, Cout, Lout]
    const int B, const int Cin, const int L,
    const int Cout, const int K, const int Lout,
    const int stride, const int padding, const int dilation)
{
    const int total = B * Cout * Lout;
    for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < total; idx += gridDim.x * blockDim.x) {
        const int o = idx % Lout;
        const int co = (idx / Lout) % Cout;
        const int b = idx / (Lout * Cout);

        float value = 0.0f;
        for (int ci = 0; ci < Cin; ++ci) {
            for (int k = 0; k < K; ++k) {
                const int pos = o + padding - k * dilation;
                if (pos < 0) continue;
                if (pos % stride != 0) continue;
                const int i = pos / stride;
                if (i >= L) continue;
                value += __half2float(input[(b * Cin + ci) * L + i]) *
                         __half2float(weight[(ci * Cout + co) * K + k]);
            }
        }
        output[idx] = __float2half_rn(value);
    }
}

void conv_transpose1d_forward(const __half* input, const __half* weight, __half* output,
                              int B, int Cin, int L, int Cout, int K,
                              int stride, int padding, int dilation)
{
    const int Lout = (L - 1) * stride - 2 * padding + dilation * (K - 1) + 1;
    const int threads = 256;
    const int total = B * Cout * Lout;
    int blocks = (total + threads - 1) / threads;
    if (blocks > 65535) blocks = 65535;
    conv_transpose1d_kernel<<<blocks, threads>>>(input, weight, output, B, Cin, L, Cout, K, Lout,
                                                 stride, padding, dilation);
}
