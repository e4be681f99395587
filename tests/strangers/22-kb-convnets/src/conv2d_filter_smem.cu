#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include "tile_utils.cuh"

// Each block handles one (image, filter) pair and a strip of output pixels.
// The filter (C*R*S values) is staged once in dynamic shared memory as float.
__global__ void conv2d_filter_smem_kernel(const __half* __restrict__ x,
                                          const __half* __restrict__ w,
                                          __half* __restrict__ y,
                                          int C, int H, int W, int K, int R, int S,
                                          int stride, int pad, int OH, int OW)
{
    extern __shared__ float filter[];

    int k = blockIdx.y;
    int n = blockIdx.z;
    int taps = C * R * S;

    for (int i = threadIdx.x; i < taps; i += blockDim.x)
        filter[i] = __half2float(w[(size_t)k * taps + i]);
    __syncthreads();

    const __half* xn = x + (size_t)n * C * H * W;
    __half* yo = y + ((size_t)n * K + k) * OH * OW;

    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < OH * OW; p += gridDim.x * blockDim.x) {
        int oy = p / OW;
        int ox = p % OW;
        int y0 = oy * stride - pad;
        int x0 = ox * stride - pad;
        float acc = 0.0f;
        int f = 0;
        for (int c = 0; c < C; c++) {
            const __half* xc = xn + c * H * W;
            for (int r = 0; r < R; r++)
                for (int s = 0; s < S; s++, f++)
                    acc += load_or_zero(xc, y0 + r, x0 + s, H, W) * filter[f];
        }
        yo[p] = __float2half(acc);
    }
}

extern "C" void conv2d_filter_smem(const __half* x, const __half* w, __half* y,
                                   int N, int C, int H, int W, int K, int R, int S,
                                   int stride, int pad)
{
    int OH = (H + 2 * pad - R) / stride + 1;
    int OW = (W + 2 * pad - S) / stride + 1;
    int threads = 256;
    int strips = div_up(OH * OW, threads);
    if (strips > 16) strips = 16;
    dim3 grid(strips, K, N);
    size_t smem = (size_t)C * R * S * sizeof(float);
    conv2d_filter_smem_kernel<<<grid, threads, smem>>>(x, w, y, C, H, W, K, R, S, stride, pad, OH, OW);
}
