// C = A^T * B for tall and skinny A (K x M) and B (K x N), row major. K is the long one (samples), so it is cut into
// chunks over blockIdx.z and the partial products are added up with atomics.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define TILE 16
#define CHUNK 2048

__global__ void gram_splitk_kernel(const __half* __restrict__ A, const __half* __restrict__ B, float* __restrict__ C,
                                   int K, int M, int N)
{
    __shared__ __half As[TILE][TILE];
    __shared__ __half Bs[TILE][TILE];

    const int tx = threadIdx.x, ty = threadIdx.y;
    const int m0 = blockIdx.y * TILE;
    const int n0 = blockIdx.x * TILE;
    const int kBegin = blockIdx.z * CHUNK;
    const int kEnd = min(K, kBegin + CHUNK);

    float acc = 0.0f;
    for (int k0 = kBegin; k0 < kEnd; k0 += TILE) {
        const int k = k0 + ty;
        As[ty][tx] = (k < kEnd && m0 + tx < M) ? A[(size_t)k * M + m0 + tx] : __float2half(0.0f);
        Bs[ty][tx] = (k < kEnd && n0 + tx < N) ? B[(size_t)k * N + n0 + tx] : __float2half(0.0f);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            acc += __half2float(As[i][ty]) * __half2float(Bs[i][tx]);
        __syncthreads();
    }

    const int m = m0 + ty, n = n0 + tx;
    if (m < M && n < N) atomicAdd(&C[(size_t)m * N + n], acc);
}

extern "C" void gram_tall_skinny_half(const __half* A, const __half* B, float* C, int K, int M, int N,
                                      cudaStream_t stream)
{
    if (M <= 0 || N <= 0) return;
    cudaMemsetAsync(C, 0, sizeof(float) * (size_t)M * N, stream);
    if (K <= 0) return;
    dim3 block(TILE, TILE);
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, (K + CHUNK - 1) / CHUNK);
    gram_splitk_kernel<<<grid, block, 0, stream>>>(A, B, C, K, M, N);
}
