#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

// ---- max pooling in three dimensions, padding counts as -infinity ----------------------------------

__global__ void maxpool3d_kernel(const __half* x, __half* y, int planes, int D, int H, int W, int k, int stride,
                                 int pad, int OD, int OH, int OW)
{
    long long id = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long total = (long long)planes * OD * OH * OW;
    if (id >= total) return;

    int ow = id % OW;
    int oh = (id / OW) % OH;
    int od = (id / OW / OH) % OD;
    int plane = id / OW / OH / OD;
    const __half* src = x + (size_t)plane * D * H * W;

    float best = -INFINITY;
    for (int a = 0; a < k; a++) {
        int d = od * stride - pad + a;
        if (d < 0 || d >= D) continue;
        for (int b = 0; b < k; b++) {
            int h = oh * stride - pad + b;
            if (h < 0 || h >= H) continue;
            for (int c = 0; c < k; c++) {
                int w = ow * stride - pad + c;
                if (w < 0 || w >= W) continue;
                float v = __half2float(src[((size_t)d * H + h) * W + w]);
                if (v > best || isnan(v)) best = v;
            }
        }
    }
    y[id] = __float2half(best);
}

int maxpool3d_half(const __half* x, __half* y, int n, int c, int D, int H, int W, int k, int stride, int pad,
                   cudaStream_t stream)
{
    if (k < 1 || stride < 1 || 2 * pad > k) return -1;
    if (D + 2 * pad < k || H + 2 * pad < k || W + 2 * pad < k) return -1;
    int OD = (D + 2 * pad - k) / stride + 1;
    int OH = (H + 2 * pad - k) / stride + 1;
    int OW = (W + 2 * pad - k) / stride + 1;
    long long total = (long long)n * c * OD * OH * OW;
    maxpool3d_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(x, y, n * c, D, H, W, k, stride, pad, OD,
                                                                         OH, OW);
    return cudaGetLastError() == cudaSuccess ? 0 : -2;
}

// ---- masked sum from the end: y[i] = sum over j >= i of x[j] where mask[j] ---------------------------

__global__ void masked_reverse_cumsum_kernel(const float* x, const bool* mask, float* y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* xr = x + (size_t)row * cols;
    const bool* mr = mask + (size_t)row * cols;
    float* yr = y + (size_t)row * cols;

    float sum = 0.0f;
    for (int i = cols - 1; i >= 0; i--) {
        if (mr[i]) sum += xr[i];
        yr[i] = sum;
    }
}

void masked_reverse_cumsum(const float* x, const bool* mask, float* y, int rows, int cols, cudaStream_t stream)
{
    masked_reverse_cumsum_kernel<<<(rows + 63) / 64, 64, 0, stream>>>(x, mask, y, rows, cols);
}
