#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include "tile_utils.cuh"

#define TILE_W 32
#define TILE_H 16
#define KSIZE 3
#define HALO (KSIZE - 1)

// Depthwise 3x3, stride 1: a block stages its input tile plus halo in shared memory.
__global__ void depthwise3x3_kernel(const __half* __restrict__ x,
                                    const __half* __restrict__ w,
                                    const __half* __restrict__ b,
                                    __half* __restrict__ y,
                                    int C, int H, int W, int pad, int OH, int OW)
{
    __shared__ float tile[TILE_H + HALO][TILE_W + HALO + 1];
    __shared__ float filt[KSIZE * KSIZE];

    int plane = blockIdx.z;
    int c = plane % C;
    const __half* xp = x + (size_t)plane * H * W;

    int ox0 = blockIdx.x * TILE_W;
    int oy0 = blockIdx.y * TILE_H;
    int tid = threadIdx.y * TILE_W + threadIdx.x;

    if (tid < KSIZE * KSIZE)
        filt[tid] = __half2float(w[c * KSIZE * KSIZE + tid]);

    for (int i = tid; i < (TILE_H + HALO) * (TILE_W + HALO); i += TILE_W * TILE_H) {
        int ty = i / (TILE_W + HALO);
        int tx = i % (TILE_W + HALO);
        tile[ty][tx] = load_or_zero(xp, oy0 + ty - pad, ox0 + tx - pad, H, W);
    }
    __syncthreads();

    int ox = ox0 + threadIdx.x;
    int oy = oy0 + threadIdx.y;
    if (ox < OW && oy < OH) {
        float acc = __half2float(b[c]);
        #pragma unroll
        for (int r = 0; r < KSIZE; r++)
            #pragma unroll
            for (int s = 0; s < KSIZE; s++)
                acc += tile[threadIdx.y + r][threadIdx.x + s] * filt[r * KSIZE + s];
        y[((size_t)plane * OH + oy) * OW + ox] = __float2half(acc);
    }
}

extern "C" void depthwise_conv2d(const __half* x, const __half* w, const __half* b, __half* y,
                                 int N, int C, int H, int W, int pad)
{
    int OH = H + 2 * pad - KSIZE + 1;
    int OW = W + 2 * pad - KSIZE + 1;
    dim3 block(TILE_W, TILE_H);
    dim3 grid(div_up(OW, TILE_W), div_up(OH, TILE_H), N * C);
    depthwise3x3_kernel<<<grid, block>>>(x, w, b, y, C, H, W, pad, OH, OW);
}
