// Mean of a (2r+1) x (2r+1) window with the help of a summed area table in double precision. At the borders the
// window is cut off.
#include <cuda_runtime.h>

typedef unsigned int u32;

// a warp for each row
__global__ void sat_rows(const float* image, double* sat, int h, int w)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x & 31;
    if (row >= h) return;

    double carry = 0.0;
    for (int start = 0; start < w; start += 32) {
        const int c = start + lane;
        double v = c < w ? (double)image[(size_t)row * w + c] : 0.0;
        for (int d = 1; d < 32; d <<= 1) {
            double other = __shfl_up_sync(0xffffffffu, v, d);
            if (lane >= d) v += other;
        }
        v += carry;
        if (c < w) sat[(size_t)row * w + c] = v;
        carry = __shfl_sync(0xffffffffu, v, 31);
    }
}

// a thread for each column
__global__ void sat_cols(double* sat, int h, int w)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= w) return;
    double sum = 0.0;
    for (int r = 0; r < h; r++) {
        sum += sat[(size_t)r * w + c];
        sat[(size_t)r * w + c] = sum;
    }
}

__global__ void box_mean(const double* sat, float* out, int h, int w, int radius)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;

    const int x0 = max(x - radius, 0) - 1, x1 = min(x + radius, w - 1);
    const int y0 = max(y - radius, 0) - 1, y1 = min(y + radius, h - 1);
    double s = sat[(size_t)y1 * w + x1];
    if (x0 >= 0) s -= sat[(size_t)y1 * w + x0];
    if (y0 >= 0) s -= sat[(size_t)y0 * w + x1];
    if (x0 >= 0 && y0 >= 0) s += sat[(size_t)y0 * w + x0];
    const int area = (x1 - x0) * (y1 - y0);
    out[(size_t)y * w + x] = (float)(s / area);
}

bool box_filter(const float* image, float* out, double* sat, int h, int w, int radius, cudaStream_t stream)
{
    sat_rows<<<(h + 3) / 4, 128, 0, stream>>>(image, sat, h, w);
    sat_cols<<<(w + 63) / 64, 64, 0, stream>>>(sat, h, w);
    const dim3 block(32, 8);
    box_mean<<<dim3((w + 31) / 32, (h + 7) / 8), block, 0, stream>>>(sat, out, h, w, radius);
    return cudaPeekAtLastError() == cudaSuccess;
}
