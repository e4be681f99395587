// Level 1: dense products. Accumulation is always float.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// out[m][n] = clamp(sum_k At[k][m] * Bt[n][k] + bias[n], lo, hi)
__global__ void gemm_tt_kernel(const __half* __restrict__ At, const __half* __restrict__ Bt, const __half* __restrict__ bias,
                               __half* __restrict__ out, int M, int N, int K, float lo, float hi)
{
    const int m = blockIdx.x * blockDim.x + threadIdx.x;
    const int n = blockIdx.y * blockDim.y + threadIdx.y;
    if (m >= M || n >= N) return;
    float acc = 0.f;
    for (int k = 0; k < K; ++k)
        acc += __half2float(At[(size_t)k * M + m]) * __half2float(Bt[(size_t)n * K + k]);
    acc += __half2float(bias[n]);
    out[(size_t)m * N + n] = __float2half(fminf(fmaxf(acc, lo), hi));
}

void gemm_tt_bias_clamp(const __half* At, const __half* Bt, const __half* bias, __half* out, int M, int N, int K, float lo, float hi,
                        cudaStream_t stream)
{
    dim3 block(32, 8);
    dim3 grid((M + 31) / 32, (N + 7) / 8);
    gemm_tt_kernel<<<grid, block, 0, stream>>>(At, Bt, bias, out, M, N, K, lo, hi);
}

// gram[p][q] = sum_r X[r][p] * Y[r][q]: both operands are tall and skinny. One block for every (p, q).
__global__ void tall_skinny_kernel(const float* X, const float* Y, float* gram, int R, int P, int Q)
{
    __shared__ float part[256];
    int p = blockIdx.y, q = blockIdx.x;
    float s = 0.0f;
    for (int r = threadIdx.x; r < R; r += 256)
        s += X[(size_t)r * P + p] * Y[(size_t)r * Q + q];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int w = 128; w >= 1; w >>= 1) {
        if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
        __syncthreads();
    }
    if (threadIdx.x == 0) gram[p * Q + q] = part[0];
}

void tall_skinny_gram(const float* X, const float* Y, float* gram, int R, int P, int Q)
{
    tall_skinny_kernel<<<dim3(Q, P), 256>>>(X, Y, gram, R, P, Q);
}

// S[b][i][j] = keep[b][j] ? scale * <A[b][i], B[b][j]> : fill
#define TS 16
__global__ void bmm_scale_mask_kernel(const __nv_bfloat16* A, const __nv_bfloat16* B, const unsigned char* keep, __nv_bfloat16* S,
                                      int I, int J, int D, float scale, float fill)
{
    __shared__ float As[TS][TS];
    __shared__ float Bs[TS][TS + 1];
    int b = blockIdx.z;
    int i = blockIdx.y * TS + threadIdx.y;
    int j = blockIdx.x * TS + threadIdx.x;
    int jl = blockIdx.x * TS + threadIdx.y;
    float sum = 0.f;
    for (int d0 = 0; d0 < D; d0 += TS) {
        int d = d0 + threadIdx.x;
        As[threadIdx.y][threadIdx.x] = (i < I && d < D) ? __bfloat162float(A[((size_t)b * I + i) * D + d]) : 0.f;
        Bs[threadIdx.y][threadIdx.x] = (jl < J && d < D) ? __bfloat162float(B[((size_t)b * J + jl) * D + d]) : 0.f;
        __syncthreads();
        for (int k = 0; k < TS; ++k)
            sum += As[threadIdx.y][k] * Bs[threadIdx.x][k];
        __syncthreads();
    }
    if (i < I && j < J)
        S[((size_t)b * I + i) * J + j] = __float2bfloat16(keep[b * J + j] ? sum * scale : fill);
}

void bmm_scale_mask(const __nv_bfloat16* A, const __nv_bfloat16* B, const unsigned char* keep, __nv_bfloat16* S, int batch, int I, int J,
                    int D, float scale, float fill)
{
    dim3 grid((J + TS - 1) / TS, (I + TS - 1) / TS, batch);
    bmm_scale_mask_kernel<<<grid, dim3(TS, TS)>>>(A, B, keep, S, I, J, D, scale, fill);
}
