// Histogram equalization of a batch of grey images, as cv::equalizeHist does it.
#include <cuda_runtime.h>

typedef unsigned char uchar;
typedef unsigned int uint;

__global__ void hist256(const uchar* __restrict__ img, uint* __restrict__ hist, int pixels)
{
    __shared__ uint local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    const uchar* p = img + (size_t)blockIdx.y * pixels;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x)
        atomicAdd(&local[p[i]], 1u);
    __syncthreads();
    if (local[threadIdx.x]) atomicAdd(&hist[blockIdx.y * 256 + threadIdx.x], local[threadIdx.x]);
}

// 256 threads per image: inclusive scan, then the table
__global__ void make_lut(const uint* __restrict__ hist, uchar* __restrict__ lut, uint pixels)
{
    __shared__ uint cdf[2][256];
    __shared__ uint first;               // count of the darkest value that occurs
    const int t = threadIdx.x;
    const uint h = hist[blockIdx.x * 256 + t];
    int cur = 0;
    cdf[0][t] = h;
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        cdf[cur ^ 1][t] = cdf[cur][t] + (t >= d ? cdf[cur][t - d] : 0u);
        cur ^= 1;
        __syncthreads();
    }
    const uint sum = cdf[cur][t];
    if (h > 0 && sum == h) first = h;
    __syncthreads();

    const uint denom = pixels - first;
    uchar v;
    if (denom == 0)
        v = (uchar)t;                    // a single value: unchanged
    else if (sum <= first)
        v = 0;
    else
        v = (uchar)(((unsigned long long)(sum - first) * 255u + denom / 2) / denom);
    lut[blockIdx.x * 256 + t] = v;
}

__global__ void apply_lut(const uchar* __restrict__ img, const uchar* __restrict__ lut, uchar* __restrict__ out,
                          int pixels)
{
    __shared__ uchar table[256];
    table[threadIdx.x] = lut[blockIdx.y * 256 + threadIdx.x];
    __syncthreads();
    const size_t base = (size_t)blockIdx.y * pixels;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += gridDim.x * blockDim.x)
        out[base + i] = table[img[base + i]];
}

// hist: images x 256 counters, lut: images x 256 bytes; both are workspaces
int equalize_images(const uchar* img, uchar* out, uint* hist, uchar* lut, int images, int height, int width,
                    cudaStream_t stream)
{
    if (images <= 0 || images > 65535 || height <= 0 || width <= 0) return 1;
    if ((long long)height * width > (1 << 30)) return 1;
    const int pixels = height * width;
    cudaMemsetAsync(hist, 0, (size_t)images * 256 * sizeof(uint), stream);
    int blocks = (pixels + 256 * 16 - 1) / (256 * 16);
    if (blocks > 512) blocks = 512;
    hist256<<<dim3(blocks, images), 256, 0, stream>>>(img, hist, pixels);
    make_lut<<<images, 256, 0, stream>>>(hist, lut, (uint)pixels);
    apply_lut<<<dim3(blocks, images), 256, 0, stream>>>(img, lut, out, pixels);
    return cudaGetLastError() == cudaSuccess ? 0 : 2;
}
