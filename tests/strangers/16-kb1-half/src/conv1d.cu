// conv1d with stride and dilation, no padding
#include "util.cuh"

__global__ void conv1d_kernel(const half* x, const half* w, const half* bias, half* y, int batch, int c_in, int l_in,
                              int c_out, int l_out, int k, int stride, int dilation) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= batch * c_out * l_out) return;
    int l = idx % l_out;
    int co = (idx / l_out) % c_out;
    int b = idx / (l_out * c_out);
    float sum = __half2float(bias[co]);
    for (int ci = 0; ci < c_in; ci++) {
        for (int t = 0; t < k; t++) {
            int pos = l * stride + t * dilation;
            sum += __half2float(x[(b * c_in + ci) * l_in + pos]) * __half2float(w[(co * c_in + ci) * k + t]);
        }
    }
    y[idx] = __float2half(sum);
}

// l_out = (l_in - dilation * (k - 1) - 1) / stride + 1
void conv1d_forward(const half* x, const half* w, const half* bias, half* y, int batch, int c_in, int l_in, int c_out,
                    int l_out, int k, int stride, int dilation) {
    int total = batch * c_out * l_out;
    conv1d_kernel<<<CEIL_DIV(total, 256), 256>>>(x, w, bias, y, batch, c_in, l_in, c_out, l_out, k, stride, dilation);
}
