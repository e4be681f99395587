// Dense layers and matrix products.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// ------------------------------------------------------------------------------------------------
// y = gelu(x w^T + bias), w as in torch.nn.Linear: (out_features, in_features)

__device__ inline float gelu_tanh(float x)
{
    const float c = 0.7978845608f;
    return 0.5f * x * (1.0f + tanhf(c * (x + 0.044715f * x * x * x)));
}

__global__ void linear_bias_gelu_kernel(const half* x, const half* w, const half* bias, half* y, int tokens,
                                        int in_features, int out_features)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m < tokens && n < out_features) {
        float acc = __half2float(bias[n]);
        for (int k = 0; k < in_features; k++) {
            acc += __half2float(x[(size_t)m * in_features + k]) * __half2float(w[(size_t)n * in_features + k]);
        }
        y[(size_t)m * out_features + n] = __float2half(gelu_tanh(acc));
    }
}

void linear_bias_gelu(const half* x, const half* w, const half* bias, half* y, int tokens, int in_features,
                      int out_features, cudaStream_t stream)
{
    dim3 block(16, 16);
    dim3 grid(CEIL_DIV(out_features, 16), CEIL_DIV(tokens, 16));
    linear_bias_gelu_kernel<<<grid, block, 0, stream>>>(x, w, bias, y, tokens, in_features, out_features);
}

// ------------------------------------------------------------------------------------------------
// C = A^T B (gradient of a weight): A is K x M, B is K x N, C is M x N in float. Tiles in shared memory.

template <int TILE>
__global__ void matmul_at_b_kernel(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B,
                                   float* __restrict__ C, int M, int N, int K)
{
    __shared__ float As[TILE][TILE + 1];
    __shared__ float Bs[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty;
    const int col = blockIdx.x * TILE + tx;
    const int a_col = blockIdx.y * TILE + tx;

    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        const int k = k0 + ty;
        As[ty][tx] = (k < K && a_col < M) ? __bfloat162float(A[(size_t)k * M + a_col]) : 0.0f;
        Bs[ty][tx] = (k < K && col < N) ? __bfloat162float(B[(size_t)k * N + col]) : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i) acc += As[i][ty] * Bs[i][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[(size_t)row * N + col] = acc;
}

cudaError_t matmul_at_b_bf16(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K,
                             cudaStream_t stream)
{
    constexpr int TILE = 16;
    dim3 grid(CEIL_DIV(N, TILE), CEIL_DIV(M, TILE));
    matmul_at_b_kernel<TILE><<<grid, dim3(TILE, TILE), 0, stream>>>(A, B, C, M, N, K);
    return cudaGetLastError();
}

// ------------------------------------------------------------------------------------------------
// C = tril(A) tril(B): only k from j to i can contribute, and what lies above the diagonal is zero

__global__ void tril_matmul_kernel(const float* A, const float* B, float* C, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    if (i < j) {
        C[(size_t)i * n + j] = 0.0f;
        return;
    }
    float sum = 0.0f;
    for (int k = j; k <= i; ++k) sum += A[(size_t)i * n + k] * B[(size_t)k * n + j];
    C[(size_t)i * n + j] = sum;
}

void tril_matmul(const float* A, const float* B, float* C, int n)
{
    dim3 threads(16, 16);
    dim3 blocks(CEIL_DIV(n, 16), CEIL_DIV(n, 16));
    tril_matmul_kernel<<<blocks, threads>>>(A, B, C, n);
}

// ------------------------------------------------------------------------------------------------
// 3D tensor times matrix: (n, m, k) x (k, l) -> (n, m, l)

__global__ void tensor3d_matmul_kernel(const half* __restrict__ a, const half* __restrict__ b, half* __restrict__ out,
                                       int n, int m, int k, int l)
{
    const long long idx = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= (long long)n * m * l) return;
    const int col = (int)(idx % l);
    const int row = (int)((idx / l) % m);
    const int batch = (int)(idx / ((long long)l * m));

    const half* a_row = a + ((size_t)batch * m + row) * k;
    float acc = 0.f;
    for (int i = 0; i < k; i++) acc += __half2float(a_row[i]) * __half2float(b[(size_t)i * l + col]);
    out[idx] = __float2half(acc);
}

int tensor3d_matmul(const half* a, const half* b, half* out, int n, int m, int k, int l)
{
    const long long total = (long long)n * m * l;
    const int block = 256;
    tensor3d_matmul_kernel<<<(unsigned)((total + block - 1) / block), block>>>(a, b, out, n, m, k, l);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
