// ConvNeXt's depthwise layer: nn.Conv2d(C, C, 7, padding=3, groups=C).
// The input tile with its halo lives in shared memory, all filters live in
// constant memory (up to 512 channels).
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define DW_MAX_C 512
#define K7 7
#define HALO 3
#define TILE_W 32
#define TILE_H 8

__constant__ __half c_filters[DW_MAX_C * K7 * K7];

__global__ void depthwise7_kernel(const __half* __restrict__ x, const __half* __restrict__ bias,
                                  __half* __restrict__ y, int C, int H, int W)
{
    __shared__ __half tile[TILE_H + 2 * HALO][TILE_W + 2 * HALO];

    const int nc = blockIdx.z;
    const int c = nc % C;
    const __half* plane = x + (size_t)nc * H * W;
    const int h0 = blockIdx.y * TILE_H - HALO;
    const int w0 = blockIdx.x * TILE_W - HALO;

    for (int i = threadIdx.y; i < TILE_H + 2 * HALO; i += TILE_H)
        for (int j = threadIdx.x; j < TILE_W + 2 * HALO; j += TILE_W) {
            int h = h0 + i, w = w0 + j;
            tile[i][j] = (h >= 0 && h < H && w >= 0 && w < W) ? plane[h * W + w] : __float2half(0.f);
        }
    __syncthreads();

    const int oh = blockIdx.y * TILE_H + threadIdx.y;
    const int ow = blockIdx.x * TILE_W + threadIdx.x;
    if (oh >= H || ow >= W) return;

    float acc = __half2float(bias[c]);
#pragma unroll
    for (int kh = 0; kh < K7; ++kh)
#pragma unroll
        for (int kw = 0; kw < K7; ++kw)
            acc += __half2float(tile[threadIdx.y + kh][threadIdx.x + kw]) *
                   __half2float(c_filters[(c * K7 + kh) * K7 + kw]);
    y[(size_t)nc * H * W + oh * W + ow] = __float2half(acc);
}

extern "C" void depthwise_k7_f16(const __half* x, const __half* w, const __half* bias, __half* y, int N, int C, int H,
                                 int W, cudaStream_t stream)
{
    if (C > DW_MAX_C) return;
    cudaMemcpyToSymbolAsync(c_filters, w, (size_t)C * K7 * K7 * sizeof(__half), 0, cudaMemcpyDeviceToDevice, stream);
    dim3 grid((W + TILE_W - 1) / TILE_W, (H + TILE_H - 1) / TILE_H, N * C);
    depthwise7_kernel<<<grid, dim3(TILE_W, TILE_H), 0, stream>>>(x, bias, y, C, H, W);
}
