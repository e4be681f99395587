// Depthwise conv, 5x5, padding 2, stride 1, bf16 in and out.
// Shared tile with halo, one plane (n, c) per blockIdx.z.
#include <cuda_bf16.h>

#define TILE_W 32
#define TILE_H 8
#define KS 5
#define PAD 2

__global__ void depthwiseKernel(const __nv_bfloat16* __restrict__ input, const __nv_bfloat16* __restrict__ weight,
                                const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ output,
                                int channels, int height, int width)
{
    __shared__ __nv_bfloat16 tile[TILE_H + KS - 1][TILE_W + KS - 1];
    __shared__ float filt[KS * KS];

    int plane = blockIdx.z;
    int c = plane % channels;
    const __nv_bfloat16* in = input + (size_t)plane * height * width;

    int tid = threadIdx.y * TILE_W + threadIdx.x;
    if (tid < KS * KS)
        filt[tid] = __bfloat162float(weight[c * KS * KS + tid]);

    // load tile + halo
    const int tw = TILE_W + KS - 1, th = TILE_H + KS - 1;
    for (int i = tid; i < tw * th; i += TILE_W * TILE_H) {
        int ly = i / tw, lx = i % tw;
        int gy = blockIdx.y * TILE_H + ly - PAD;
        int gx = blockIdx.x * TILE_W + lx - PAD;
        bool inside = gy >= 0 && gy < height && gx >= 0 && gx < width;
        tile[ly][lx] = inside ? in[gy * width + gx] : __float2bfloat16(0.0f);
    }
    __syncthreads();

    int ox = blockIdx.x * TILE_W + threadIdx.x;
    int oy = blockIdx.y * TILE_H + threadIdx.y;
    if (ox < width && oy < height) {
        float sum = __bfloat162float(bias[c]);
        for (int i = 0; i < KS; i++)
            for (int j = 0; j < KS; j++)
                sum += filt[i * KS + j] * __bfloat162float(tile[threadIdx.y + i][threadIdx.x + j]);
        output[(size_t)plane * height * width + oy * width + ox] = __float2bfloat16(sum);
    }
}

void depthwise5x5(const __nv_bfloat16* input, const __nv_bfloat16* weight, const __nv_bfloat16* bias, __nv_bfloat16* output,
                  int batch, int channels, int height, int width)
{
    dim3 block(TILE_W, TILE_H);
    dim3 grid((width + TILE_W - 1) / TILE_W, (height + TILE_H - 1) / TILE_H, batch * channels);
    depthwiseKernel<<<grid, block>>>(input, weight, bias, output, channels, height, width);
}
