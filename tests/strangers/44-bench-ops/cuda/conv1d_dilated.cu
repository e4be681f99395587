#include <cuda_fp16.h>
#include <cuda_runtime.h>

// x: (batch, in_ch, len)  w: (out_ch, in_ch, ksize)  y: (batch, out_ch, out_len)
__global__ void conv1d_kernel(const __half* x, const __half* w, const __half* bias, __half* y, int batch, int in_ch, int len,
                              int out_ch, int ksize, int stride, int dilation, int padding, int out_len) {
    long long idx = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long total = (long long)batch * out_ch * out_len;
    if (idx >= total) return;

    int ol = idx % out_len;
    int oc = (idx / out_len) % out_ch;
    int b = idx / ((long long)out_len * out_ch);

    float sum = __half2float(bias[oc]);
    for (int ic = 0; ic < in_ch; ic++) {
        for (int k = 0; k < ksize; k++) {
            int il = ol * stride + k * dilation - padding;
            if (il >= 0 && il < len) {
                float xv = __half2float(x[((long long)b * in_ch + ic) * len + il]);
                float wv = __half2float(w[((long long)oc * in_ch + ic) * ksize + k]);
                sum += xv * wv;
            }
        }
    }
    y[idx] = __float2half(sum);
}

void conv1d_forward(const __half* x, const __half* w, const __half* bias, __half* y, int batch, int in_ch, int len, int out_ch,
                    int ksize, int stride, int dilation, int padding, cudaStream_t stream = 0) {
    int out_len = (len + 2 * padding - dilation * (ksize - 1) - 1) / stride + 1;
    long long total = (long long)batch * out_ch * out_len;
    int threads = 256;
    int blocks = (int)((total + threads - 1) / threads);
    conv1d_kernel<<<blocks, threads, 0, stream>>>(x, w, bias, y, batch, in_ch, len, out_ch, ksize, stride, dilation, padding,
                                                  out_len);
}
