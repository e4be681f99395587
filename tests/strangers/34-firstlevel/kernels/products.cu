// Matrix products that are not quite a plain GEMM.
#include "common.cuh"

#include <mma.h>

// ---------------------------------------------------------------------------------------------------------------
// C = S * B where S is symmetric and only its lower triangle is stored (the rest of the buffer is garbage).

constexpr int TS = 16;

__global__ void symm_lower_kernel(const __half* __restrict__ S, const __half* __restrict__ B, __half* __restrict__ C, int M, int N)
{
  __shared__ float s_tile[TS][TS + 1];
  __shared__ float b_tile[TS][TS + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TS + ty, col = blockIdx.x * TS + tx;
  float acc = 0.f;
  for (int k0 = 0; k0 < M; k0 += TS) {
    int r = row, k = k0 + tx;
    float s = 0.f;
    if (r < M && k < M) s = __half2float(k <= r ? S[(size_t)r * M + k] : S[(size_t)k * M + r]);
    s_tile[ty][tx] = s;
    b_tile[ty][tx] = (k0 + ty < M && col < N) ? __half2float(B[(size_t)(k0 + ty) * N + col]) : 0.f;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < TS; ++q) acc = fmaf(s_tile[ty][q], b_tile[q][tx], acc);
    __syncthreads();
  }
  if (row < M && col < N) C[(size_t)row * N + col] = __float2half(acc);
}

void symm_lower_matmul(const __half* S, const __half* B, __half* C, int M, int N, cudaStream_t stream)
{
  dim3 grid(BLOCKS_FOR(N, TS), BLOCKS_FOR(M, TS));
  symm_lower_kernel<<<grid, dim3(TS, TS), 0, stream>>>(S, B, C, M, N);
}

// ---------------------------------------------------------------------------------------------------------------
// einsum("bijl,lk->bijk"), bf16. Four warps, each one a 16x16 piece of a 32x32 tile; tensor cores, no pipelining.

__global__ __launch_bounds__(128) void einsum4d_kernel(const bf16* __restrict__ A, const bf16* __restrict__ W, bf16* __restrict__ out,
                                                       int rows, int L, int K)
{
  using namespace nvcuda::wmma;
  __shared__ __align__(32) bf16 sa[32][16];
  __shared__ __align__(32) bf16 sw[16][32];
  __shared__ __align__(32) float sc[32][32];
  const int t = threadIdx.x, warp = t >> 5;
  const int r0 = blockIdx.x * 32, c0 = blockIdx.y * 32;
  const int wr = (warp >> 1) * 16, wc = (warp & 1) * 16;

  fragment<accumulator, 16, 16, 16, float> acc;
  fill_fragment(acc, 0.f);
  const bf16 zero = __float2bfloat16(0.f);

  for (int l0 = 0; l0 < L; l0 += 16) {
    for (int e = t; e < 32 * 16; e += 128) {
      int r = e / 16, l = e % 16;
      sa[r][l] = (r0 + r < rows && l0 + l < L) ? A[(size_t)(r0 + r) * L + l0 + l] : zero;
      int l2 = e / 32, c = e % 32;
      sw[l2][c] = (l0 + l2 < L && c0 + c < K) ? W[(size_t)(l0 + l2) * K + c0 + c] : zero;
    }
    __syncthreads();
    fragment<matrix_a, 16, 16, 16, bf16, row_major> fa;
    fragment<matrix_b, 16, 16, 16, bf16, row_major> fb;
    load_matrix_sync(fa, &sa[wr][0], 16);
    load_matrix_sync(fb, &sw[0][wc], 32);
    mma_sync(acc, fa, fb, acc);
    __syncthreads();
  }
  store_matrix_sync(&sc[wr][wc], acc, 32, mem_row_major);
  __syncthreads();
  for (int e = t; e < 32 * 32; e += 128) {
    int r = r0 + e / 32, c = c0 + e % 32;
    if (r < rows && c < K) out[(size_t)r * K + c] = __float2bfloat16(sc[e / 32][e % 32]);
  }
}

void einsum_bijl_lk(const bf16* A, const bf16* W, bf16* out, int b, int i, int j, int l, int k, cudaStream_t stream)
{
  const int rows = b * i * j;
  einsum4d_kernel<<<dim3(BLOCKS_FOR(rows, 32), BLOCKS_FOR(k, 32)), 128, 0, stream>>>(A, W, out, rows, l, k);
}

// ---------------------------------------------------------------------------------------------------------------
// y = alpha * A^T x with A row major: a block takes a strip of columns and a slab of rows, slabs meet in atomics.

constexpr int SLAB = 64;

__global__ void gemv_t_slab(const __half* __restrict__ A, const __half* __restrict__ x, float* y, int R, int C, float alpha)
{
  __shared__ float xs[SLAB];
  const int first = blockIdx.y * SLAB;
  const int n = min(SLAB, R - first);
  if (threadIdx.x < n) xs[threadIdx.x] = __half2float(x[first + threadIdx.x]);
  __syncthreads();
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  const __half* p = A + (size_t)first * C + c;
  float sum = 0.f;
#pragma unroll 4
  for (int r = 0; r < n; ++r, p += C) sum = fmaf(__half2float(*p), xs[r], sum);
  atomicAdd(y + c, alpha * sum);
}

void gemv_transposed(const __half* A, const __half* x, float* y, int R, int C, float alpha, cudaStream_t stream)
{
  cudaMemsetAsync(y, 0, sizeof(float) * C, stream);
  gemv_t_slab<<<dim3(BLOCKS_FOR(C, 128), BLOCKS_FOR(R, SLAB)), 128, 0, stream>>>(A, x, y, R, C, alpha);
}
