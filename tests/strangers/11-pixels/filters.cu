#include "image.cuh"

// ---- RGB (interleaved) to gray, the integer weights of the standard ---------------------------------
__global__ void rgb2grayKernel(const uchar3 *rgb, u8 *gray, int numPixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= numPixels) return;
    uchar3 p = rgb[i];
    gray[i] = (u8)((77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8);
}

void rgbToGray(const u8 *rgb, u8 *gray, int width, int height)
{
    rgb2grayKernel<<<divUp(width * height, 256), 256>>>((const uchar3 *)rgb, gray, width * height);
}

// ---- gaussian blur, separable: rows into tmp, then columns ------------------------------------------
__constant__ float c_gauss[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

__global__ void blurRows(const float *src, float *dst, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float s = 0.f;
#pragma unroll
    for (int k = -2; k <= 2; k++) s += c_gauss[k + 2] * src[y * width + clampi(x + k, 0, width - 1)];
    dst[y * width + x] = s;
}

__global__ void blurCols(const float *src, float *dst, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float s = 0.f;
#pragma unroll
    for (int k = -2; k <= 2; k++) s += c_gauss[k + 2] * src[clampi(y + k, 0, height - 1) * width + x];
    dst[y * width + x] = s;
}

void gaussianBlur(const float *src, float *tmp, float *dst, int width, int height)
{
    dim3 block(32, 8), grid(divUp(width, 32), divUp(height, 8));
    blurRows<<<grid, block>>>(src, tmp, width, height);
    blurCols<<<grid, block>>>(tmp, dst, width, height);
}

// ---- sobel magnitude of u8, saturated ----------------------------------------------------------------
__global__ void sobelKernel(const u8 *in, u8 *out, int width, int height)
{
    __shared__ int tile[18][18];
    const int bx = blockIdx.x * 16, by = blockIdx.y * 16;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
        int x = clampi(bx + i % 18 - 1, 0, width - 1), y = clampi(by + i / 18 - 1, 0, height - 1);
        tile[i / 18][i % 18] = in[y * width + x];
    }
    __syncthreads();
    const int x = bx + threadIdx.x, y = by + threadIdx.y;
    if (x >= width || y >= height) return;
#define P(dx, dy) tile[threadIdx.y + 1 + (dy)][threadIdx.x + 1 + (dx)]
    int gx = P(1, -1) + 2 * P(1, 0) + P(1, 1) - P(-1, -1) - 2 * P(-1, 0) - P(-1, 1);
    int gy = P(-1, 1) + 2 * P(0, 1) + P(1, 1) - P(-1, -1) - 2 * P(0, -1) - P(1, -1);
#undef P
    int mag = abs(gx) + abs(gy);
    out[y * width + x] = (u8)min(mag, 255);
}

void sobel(const u8 *in, u8 *out, int width, int height)
{
    sobelKernel<<<dim3(divUp(width, 16), divUp(height, 16)), dim3(16, 16)>>>(in, out, width, height);
}

// ---- median 3x3 with a sorting network of minima and maxima -------------------------------------------
#define SORT2(a, b) { float t = fminf(a, b); b = fmaxf(a, b); a = t; }

__global__ void median3x3Kernel(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float p[9];
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            p[n++] = in[clampi(y + dy, 0, height - 1) * width + clampi(x + dx, 0, width - 1)];
    SORT2(p[1], p[2]) SORT2(p[4], p[5]) SORT2(p[7], p[8])
    SORT2(p[0], p[1]) SORT2(p[3], p[4]) SORT2(p[6], p[7])
    SORT2(p[1], p[2]) SORT2(p[4], p[5]) SORT2(p[7], p[8])
    SORT2(p[0], p[3]) SORT2(p[5], p[8]) SORT2(p[4], p[7])
    SORT2(p[3], p[6]) SORT2(p[1], p[4]) SORT2(p[2], p[5])
    SORT2(p[4], p[7]) SORT2(p[4], p[2]) SORT2(p[6], p[4])
    SORT2(p[4], p[2])
    out[y * width + x] = p[4];
}

void median3x3(const float *in, float *out, int width, int height)
{
    median3x3Kernel<<<dim3(divUp(width, 16), divUp(height, 16)), dim3(16, 16)>>>(in, out, width, height);
}

// ---- histogram equalisation, second half: apply a look-up table, four pixels per thread ---------------
__global__ void lutKernel(const uchar4 *in, const u8 *lut, uchar4 *out, int n4)
{
    __shared__ u8 table[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) table[i] = lut[i];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    uchar4 p = in[i];
    out[i] = make_uchar4(table[p.x], table[p.y], table[p.z], table[p.w]);
}

// n is a multiple of four: rows are padded
void applyLut(const u8 *in, const u8 *lut, u8 *out, int n)
{
    lutKernel<<<divUp(n / 4, 128), 128>>>((const uchar4 *)in, lut, (uchar4 *)out, n / 4);
}
