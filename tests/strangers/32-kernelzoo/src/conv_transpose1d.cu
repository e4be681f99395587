// nn.ConvTranspose1d with stride, padding and dilation. Weight layout (C_in, C_out, K) as in PyTorch.
// Gathers: an output looks for the inputs that would have been scattered to it.
#include <cuda_runtime.h>

__global__ void conv_transpose1d_kernel(const float* __restrict__ x, const float* __restrict__ weight,
                                        const float* __restrict__ bias, float* __restrict__ y, int N, int Cin, int L,
                                        int Cout, int K, int Lout, int stride, int padding, int dilation)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N * Cout * Lout) return;

    int o = idx % Lout;
    int oc = (idx / Lout) % Cout;
    int n = idx / (Lout * Cout);

    float value = bias[oc];
    for (int k = 0; k < K; k++) {
        int pos = o + padding - k * dilation;
        if (pos < 0 || pos % stride != 0) continue;
        int i = pos / stride;
        if (i >= L) continue;
        for (int ic = 0; ic < Cin; ic++)
            value += x[(n * Cin + ic) * L + i] * weight[(ic * Cout + oc) * K + k];
    }
    y[idx] = value;
}

extern "C" void conv_transpose1d_forward(const float* x, const float* weight, const float* bias, float* y, int N,
                                         int Cin, int L, int Cout, int K, int stride, int padding, int dilation,
                                         cudaStream_t stream)
{
    int Lout = (L - 1) * stride - 2 * padding + dilation * (K - 1) + 1;
    if (N <= 0 || Cin <= 0 || L <= 0 || Cout <= 0 || stride <= 0 || Lout <= 0) return;
    // indices are 32 bits
    if ((long long)N * Cout * Lout > 2147483000LL || (long long)N * Cin * L > 2147483000LL ||
        (long long)Cin * Cout * K > 2147483000LL)
        return;
    int total = N * Cout * Lout;
    conv_transpose1d_kernel<<<(total + 127) / 128, 128, 0, stream>>>(x, weight, bias, y, N, Cin, L, Cout, K, Lout,
                                                                     stride, padding, dilation);
}
