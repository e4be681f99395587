/**
 * Gram matrices of feature maps (the style loss of Gatys et al.)
 *
 *   G[b] = F[b] * F[b]^T / (C * P)        F: [B, C, P] half,  G: [B, C, C] float
 *
 * TODO: G is symmetric, half of the blocks could go.
 */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

const int TS = 32;      // tile
const int ROWS = 8;     // blockDim.y, each thread does TS / ROWS = 4 rows

__global__ void gramKernel(const __half *F, float *G, int C, int P, float norm)
{
    __shared__ float left[TS][TS + 1];
    __shared__ float right[TS][TS + 1];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i0 = blockIdx.y * TS, j0 = blockIdx.x * TS;
    F += (size_t) blockIdx.z * C * P;
    G += (size_t) blockIdx.z * C * C;

    float acc[TS / ROWS];
    for (int r = 0; r < TS / ROWS; ++r) acc[r] = 0;

    for (int p0 = 0; p0 < P; p0 += TS) {
        for (int r = ty; r < TS; r += ROWS) {
            const bool in = p0 + tx < P;
            left[r][tx]  = in && i0 + r < C ? __half2float(F[(size_t) (i0 + r) * P + p0 + tx]) : 0.0f;
            right[r][tx] = in && j0 + r < C ? __half2float(F[(size_t) (j0 + r) * P + p0 + tx]) : 0.0f;
        }
        __syncthreads();

        for (int k = 0; k < TS; ++k) {
            const float b = right[tx][k];
            for (int r = 0; r < TS / ROWS; ++r) acc[r] += left[ty + r * ROWS][k] * b;
        }
        __syncthreads();
    }

    const int j = j0 + tx;
    for (int r = 0; r < TS / ROWS; ++r) {
        const int i = i0 + ty + r * ROWS;
        if (i < C && j < C) G[(size_t) i * C + j] = acc[r] * norm;
    }
}

extern "C" int gram_matrix(const __half *F, float *G, int B, int C, int P, cudaStream_t stream)
{
    if (B <= 0 || C <= 0 || P <= 0) return 1;
    const int tiles = (C + TS - 1) / TS;
    gramKernel<<<dim3(tiles, tiles, B), dim3(TS, ROWS), 0, stream>>>(F, G, C, P, 1.0f / ((float) C * (float) P));
    return cudaPeekAtLastError() != cudaSuccess;
}
