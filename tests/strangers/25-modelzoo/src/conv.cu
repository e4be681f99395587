// Convolutions, one thread for each output element.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// ------------------------------------------------------------------------------------------------
// conv2d with groups, stride, padding and dilation
//   x (n, groups * icg, h, w), weight (groups * ocg, icg, ks, ks), bias (groups * ocg)

__global__ void conv2d_grouped_kernel(const half* __restrict__ x, const half* __restrict__ weight,
                                      const half* __restrict__ bias, half* __restrict__ y, int n, int groups, int icg,
                                      int ocg, int h, int w, int ks, int stride, int pad, int dil, int oh, int ow)
{
    const int oc_total = groups * ocg;
    const long long total = (long long)n * oc_total * oh * ow;
    const long long idx = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= total) return;

    const int ox = (int)(idx % ow);
    const int oy = (int)(idx / ow % oh);
    const int oc = (int)(idx / ow / oh % oc_total);
    const int b = (int)(idx / ow / oh / oc_total);
    const int g = oc / ocg;

    float acc = __half2float(bias[oc]);
    for (int ic = 0; ic < icg; ++ic) {
        const half* plane = x + ((size_t)b * groups * icg + g * icg + ic) * h * w;
        const half* filt = weight + ((size_t)oc * icg + ic) * ks * ks;
        for (int ky = 0; ky < ks; ++ky) {
            const int iy = oy * stride - pad + ky * dil;
            if (iy < 0 || iy >= h) continue;
            for (int kx = 0; kx < ks; ++kx) {
                const int ix = ox * stride - pad + kx * dil;
                if (ix < 0 || ix >= w) continue;
                acc += __half2float(plane[iy * w + ix]) * __half2float(filt[ky * ks + kx]);
            }
        }
    }
    y[idx] = __float2half(acc);
}

cudaError_t conv2d_grouped_f16(const half* x, const half* weight, const half* bias, half* y, int n, int groups,
                               int icg, int ocg, int h, int w, int ks, int stride, int pad, int dil,
                               cudaStream_t stream)
{
    const int span = dil * (ks - 1) + 1;
    if (stride < 1 || h + 2 * pad < span || w + 2 * pad < span) return cudaErrorInvalidValue;
    const int oh = (h + 2 * pad - span) / stride + 1;
    const int ow = (w + 2 * pad - span) / stride + 1;
    const long long total = (long long)n * groups * ocg * oh * ow;
    const unsigned blocks = (unsigned)((total + 255) / 256);
    conv2d_grouped_kernel<<<blocks, 256, 0, stream>>>(x, weight, bias, y, n, groups, icg, ocg, h, w, ks, stride, pad,
                                                      dil, oh, ow);
    return cudaGetLastError();
}

// ------------------------------------------------------------------------------------------------
// Transposed conv2d, gathered: weight (cin, cout, ks, ks), output size (h - 1) * stride - 2 * pad + ks + out_pad

__global__ void conv_transpose2d_kernel(const __nv_bfloat16* x, const __nv_bfloat16* weight, const float* bias,
                                        __nv_bfloat16* y, int cin, int cout, int h, int w, int ks, int stride,
                                        int pad, int oh, int ow)
{
    const int ox = blockIdx.x * blockDim.x + threadIdx.x;
    const int oy = blockIdx.y * blockDim.y + threadIdx.y;
    const int oc = blockIdx.z % cout;
    const int b = blockIdx.z / cout;
    if (ox >= ow || oy >= oh) return;

    float acc = bias[oc];
    for (int ky = 0; ky < ks; ky++) {
        const int ty = oy + pad - ky;
        if (ty < 0 || ty % stride != 0) continue;
        const int iy = ty / stride;
        if (iy >= h) continue;
        for (int kx = 0; kx < ks; kx++) {
            const int tx = ox + pad - kx;
            if (tx < 0 || tx % stride != 0) continue;
            const int ix = tx / stride;
            if (ix >= w) continue;
            for (int ic = 0; ic < cin; ic++) {
                acc += __bfloat162float(x[(((size_t)b * cin + ic) * h + iy) * w + ix]) *
                       __bfloat162float(weight[(((size_t)ic * cout + oc) * ks + ky) * ks + kx]);
            }
        }
    }
    y[(((size_t)b * cout + oc) * oh + oy) * ow + ox] = __float2bfloat16(acc);
}

cudaError_t conv_transpose2d_bf16(const __nv_bfloat16* x, const __nv_bfloat16* weight, const float* bias,
                                  __nv_bfloat16* y, int batch, int cin, int cout, int h, int w, int ks, int stride,
                                  int pad, int out_pad)
{
    const int oh = (h - 1) * stride - 2 * pad + ks + out_pad;
    const int ow = (w - 1) * stride - 2 * pad + ks + out_pad;
    if (stride < 1 || oh <= 0 || ow <= 0 || (long long)batch * cout > 65535) return cudaErrorInvalidValue;
    dim3 block(32, 4);
    dim3 grid((ow + 31) / 32, (oh + 3) / 4, batch * cout);
    conv_transpose2d_kernel<<<grid, block>>>(x, weight, bias, y, cin, cout, h, w, ks, stride, pad, oh, ow);
    return cudaGetLastError();
}

// ------------------------------------------------------------------------------------------------
// Causal depthwise conv1d followed by silu, as in state space models: x (batch, dim, len), weight (dim, width).
// Output t sees the inputs t - width + 1 .. t.

__global__ void causal_dwconv1d_silu_kernel(const __nv_bfloat16* __restrict__ x,
                                            const __nv_bfloat16* __restrict__ weight,
                                            const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ y,
                                            int dim, int len, int width)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int d = blockIdx.y;
    const int b = blockIdx.z;
    if (t >= len) return;

    const size_t base = ((size_t)b * dim + d) * len;
    float acc = __bfloat162float(bias[d]);
    for (int k = 0; k < width; ++k) {
        const int s = t - (width - 1) + k;
        if (s >= 0) acc += __bfloat162float(weight[d * width + k]) * __bfloat162float(x[base + s]);
    }
    y[base + t] = __float2bfloat16(acc / (1.0f + expf(-acc)));
}

void causal_dwconv1d_silu(const __nv_bfloat16* x, const __nv_bfloat16* weight, const __nv_bfloat16* bias,
                          __nv_bfloat16* y, int batch, int dim, int len, int width, cudaStream_t stream)
{
    dim3 grid((len + 127) / 128, dim, batch);
    causal_dwconv1d_silu_kernel<<<grid, 128, 0, stream>>>(x, weight, bias, y, dim, len, width);
}
