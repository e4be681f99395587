#include "image.cuh"

// ---- transposes: in[height][width] -> out[width][height] ----------------------------------------------
__global__ void transposeNaive(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

__global__ void transposeTile(const float *in, float *out, int width, int height)
{
    __shared__ float tile[16][16 + 1];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

// 32x32 tiles, 32x8 threads, four elements each
__global__ void transposeTile4(const float *__restrict__ in, float *__restrict__ out, int width, int height)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = __ldg(&in[(y + j) * width + x]);
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 32; j += 8)
        if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

void transpose_naive(const float *in, float *out, int width, int height)
{
    transposeNaive<<<dim3(divUp(width, 32), divUp(height, 8)), dim3(32, 8)>>>(in, out, width, height);
}
void transpose_tiled(const float *in, float *out, int width, int height)
{
    transposeTile<<<dim3(divUp(width, 16), divUp(height, 16)), dim3(16, 16)>>>(in, out, width, height);
}
void transpose_fast(const float *in, float *out, int width, int height)
{
    transposeTile4<<<dim3(divUp(width, 32), divUp(height, 32)), dim3(32, 8)>>>(in, out, width, height);
}

// ---- bilinear resize, half-pixel centres ---------------------------------------------------------------
__global__ void bilinearKernel(const float *src, int sw, int sh, float *dst, int dw, int dh)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dw || y >= dh) return;
    float fx = fmaxf((x + 0.5f) * sw / dw - 0.5f, 0.f), fy = fmaxf((y + 0.5f) * sh / dh - 0.5f, 0.f);
    int x0 = min((int)fx, sw - 1), y0 = min((int)fy, sh - 1);
    int x1 = min(x0 + 1, sw - 1), y1 = min(y0 + 1, sh - 1);
    float ax = fx - x0, ay = fy - y0;
    float top = src[y0 * sw + x0] * (1 - ax) + src[y0 * sw + x1] * ax;
    float bottom = src[y1 * sw + x0] * (1 - ax) + src[y1 * sw + x1] * ax;
    dst[y * dw + x] = top * (1 - ay) + bottom * ay;
}

void resizeBilinear(const float *src, int sw, int sh, float *dst, int dw, int dh)
{
    bilinearKernel<<<dim3(divUp(dw, 16), divUp(dh, 16)), dim3(16, 16)>>>(src, sw, sh, dst, dw, dh);
}

// ---- nearest, an integer factor --------------------------------------------------------------------------
__global__ void upNearestKernel(const u8 *src, u8 *dst, int w, int h, int up)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < w * up) dst[y * w * up + x] = src[(y / up) * w + x / up];
}

void upsampleNearest(const u8 *src, u8 *dst, int w, int h, int up)
{
    upNearestKernel<<<dim3(divUp(w * up, 128), h * up), 128>>>(src, dst, w, h, up);
}

// ---- pixel shuffle: [c*r*r][h][w] -> [c][h*r][w*r] -----------------------------------------------------------
__global__ void pixelShuffleKernel(const float *in, float *out, int c, int h, int w, int r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= c * r * r * h * w) return;
    int ox = i % (w * r), oy = i / (w * r) % (h * r), oc = i / (w * r) / (h * r);
    int ic = (oc * r + oy % r) * r + ox % r;
    out[i] = in[(ic * h + oy / r) * w + ox / r];
}

void pixelShuffle(const float *in, float *out, int c, int h, int w, int r)
{
    pixelShuffleKernel<<<divUp(c * r * r * h * w, 256), 256>>>(in, out, c, h, w, r);
}

// ---- mandelbrot: iteration counts -------------------------------------------------------------------------------
__global__ void mandelbrotKernel(int *counts, int width, int height, float x0, float y0, float dx, float dy, int maxIter)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    // no contraction: the count must not depend on the compiler
    float cx = __fadd_rn(x0, __fmul_rn((float)px, dx)), cy = __fadd_rn(y0, __fmul_rn((float)py, dy));
    float x = 0.f, y = 0.f;
    int k = 0;
    for (; k < maxIter; k++) {
        float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4.f) break;
        y = __fadd_rn(__fmul_rn(__fmul_rn(2.f, x), y), cy);
        x = __fadd_rn(__fsub_rn(xx, yy), cx);
    }
    counts[py * width + px] = k;
}

void mandelbrot(int *counts, int width, int height, float x0, float y0, float dx, float dy, int maxIter)
{
    mandelbrotKernel<<<dim3(divUp(width, 16), divUp(height, 16)), dim3(16, 16)>>>(counts, width, height, x0, y0, dx, dy, maxIter);
}

// ---- thumbnail: 8x8 box average of a fixed sensor, 64 x 48 -> 8 x 6 ----------------------------------------
#define SENSOR_W 64
#define SENSOR_H 48
__global__ void thumbKernel(const u8 *in, u8 *out)
{
    __shared__ int s[64];
    int t = threadIdx.y * 8 + threadIdx.x;
    s[t] = in[(blockIdx.y * 8 + threadIdx.y) * SENSOR_W + blockIdx.x * 8 + threadIdx.x];
    __syncthreads();
    for (int o = 32; o > 0; o >>= 1) {
        if (t < o) s[t] += s[t + o];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.y * (SENSOR_W / 8) + blockIdx.x] = (u8)((s[0] + 32) / 64);
}

void thumbnail(const u8 *in, u8 *out) { thumbKernel<<<dim3(SENSOR_W / 8, SENSOR_H / 8), dim3(8, 8)>>>(in, out); }
