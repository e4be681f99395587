// Matrix products of unusual form.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>

#define TS 24

// C[b] = A[b] * B[b]^T, everything row-major
__global__ void bmm_nt_kernel(const __half* __restrict__ A, const __half* __restrict__ B, __half* __restrict__ C,
                              int M, int N, int K) {
    __shared__ __half As[TS][TS + 1];
    __shared__ __half Bs[TS][TS + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TS + ty;
    const int col = blockIdx.x * TS + tx;
    const int brow = blockIdx.x * TS + ty;
    const __half* a = A + (size_t)blockIdx.z * M * K;
    const __half* b = B + (size_t)blockIdx.z * N * K;

    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TS) {
        const int k = k0 + tx;
        As[ty][tx] = (row < M && k < K) ? a[(size_t)row * K + k] : __float2half(0.0f);
        Bs[ty][tx] = (brow < N && k < K) ? b[(size_t)brow * K + k] : __float2half(0.0f);
        __syncthreads();
        for (int i = 0; i < TS; ++i)
            acc += __half2float(As[ty][i]) * __half2float(Bs[tx][i]);
        __syncthreads();
    }
    if (row < M && col < N)
        C[((size_t)blockIdx.z * M + row) * N + col] = __float2half(acc);
}

extern "C" void bmm_nt(const __half* A, const __half* B, __half* C, int batch, int M, int N, int K, cudaStream_t stream) {
    dim3 block(TS, TS);
    dim3 grid((N + TS - 1) / TS, (M + TS - 1) / TS, batch);
    bmm_nt_kernel<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}

// Lower triangular times lower triangular. Only the lower parts are looked at.
__global__ void tril_kernel(const __half* A, const __half* B, __half* C, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    if (j > i) {
        C[(size_t)i * n + j] = __float2half(0.f);
        return;
    }
    float s = 0.f;
    for (int k = j; k <= i; k++) s += __half2float(A[(size_t)i * n + k]) * __half2float(B[(size_t)k * n + j]);
    C[(size_t)i * n + j] = __float2half(s);
}

extern "C" void tril_product(const __half* A, const __half* B, __half* C, int n) {
    dim3 threads(16, 16);
    dim3 blocks((n + 15) / 16, (n + 15) / 16);
    tril_kernel<<<blocks, threads>>>(A, B, C, n);
}

// Tall-skinny times short-wide: K is small, the result is huge. M, N and K are multiples of 16.
using namespace nvcuda;
#define WARPS 4
__global__ void skinny_wmma(const __half* A, const __half* B, __half* C, int M, int N, int K, float alpha) {
    __shared__ __align__(32) float stage[WARPS][16 * 16];
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int n0 = (blockIdx.x * WARPS + warp) * 16;
    int m0 = blockIdx.y * 16;
    if (n0 >= N || m0 >= M) return;

    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(fa, A + (size_t)m0 * K + k, K);
        wmma::load_matrix_sync(fb, B + (size_t)k * N + n0, N);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(stage[warp], fc, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
        C[(size_t)(m0 + i / 16) * N + n0 + i % 16] = __float2half(alpha * stage[warp][i]);
}

extern "C" void skinny_product(const __half* A, const __half* B, __half* C, int M, int N, int K, float alpha,
                               cudaStream_t stream) {
    dim3 grid((N / 16 + WARPS - 1) / WARPS, M / 16);
    skinny_wmma<<<grid, WARPS * 32, 0, stream>>>(A, B, C, M, N, K, alpha);
}

// y = x^T A, one thread per column
__global__ void vecmat_kernel(const __nv_bfloat16* x, const __nv_bfloat16* A, __nv_bfloat16* y, long long K, long long N) {
    long long n = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N) return;
    float sum = 0.0f;
    for (long long k = 0; k < K; ++k)
        sum = fmaf(__bfloat162float(x[k]), __bfloat162float(A[k * N + n]), sum);
    y[n] = __float2bfloat16(sum);
}

void vecmat(const __nv_bfloat16* x, const __nv_bfloat16* A, __nv_bfloat16* y, long long K, long long N) {
    int threads = 128;
    vecmat_kernel<<<(unsigned)((N + threads - 1) / threads), threads>>>(x, A, y, K, N);
}
