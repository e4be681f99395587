#include <cuda_bf16.h>
#include <cuda_runtime.h>


__device__ __forceinline__ void mma_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void load_tile(__nv_bfloat16 (*tile)[40], const __nv_bfloat16* from, int rows, int K, size_t row0, int k0) {
  for (int e = threadIdx.x; e < 64 * 32; e += 128) {
    size_t r = row0 + e / 32;
    int k = k0 + e % 32;
    tile[e / 32][e % 32] = r < (size_t)rows && k < K ? from[r * K + k] : __float2bfloat16(0.0f);
  }
}

__device__ void store(__nv_bfloat16* y, const __nv_bfloat16* bias, size_t m, int n, int M, int N, float v) {
  if (m >= (size_t)M || n >= N) return;
  v += __bfloat162float(bias[n]);
  y[m * N + n] = __float2bfloat16(0.5f * v * (1.0f + erff(v * 0.70710678f)));
}

// Tensor cores with sums in float. A block has 64 x 64 elements, each of four warps 32 x 32: two by four tiles of 16 x 8.
// Rows of the tiles are 40 elements apart, so that the fragments' loads of 4 bytes meet different banks.
__global__ void __launch_bounds__(128)
    linear_gelu_kernel(__nv_bfloat16* y, const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                       const __nv_bfloat16* __restrict__ bias, int M, int N, int K, int tiles_n) {
  __shared__ __align__(16) __nv_bfloat16 xs[64][40], ws[64][40];
  size_t m0 = (size_t)(blockIdx.x / tiles_n) * 64;
  int n0 = (int)(blockIdx.x % tiles_n) * 64;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int group = lane / 4, quad = lane % 4, wm = warp / 2 * 32, wn = warp % 2 * 32;
  float acc[2][4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
    load_tile(xs, x, M, K, m0, k0);
    load_tile(ws, w, N, K, n0, k0);
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      unsigned a[2][4], b[4][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        int r = wm + i * 16 + group, c = kk + quad * 2;
        a[i][0] = *(const unsigned*)&xs[r][c];
        a[i][1] = *(const unsigned*)&xs[r + 8][c];
        a[i][2] = *(const unsigned*)&xs[r][c + 8];
        a[i][3] = *(const unsigned*)&xs[r + 8][c + 8];
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        int r = wn + j * 8 + group, c = kk + quad * 2;
        b[j][0] = *(const unsigned*)&ws[r][c];
        b[j][1] = *(const unsigned*)&ws[r][c + 8];
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) mma_bf16(acc[i][j], a[i], b[j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      size_t m = m0 + wm + i * 16 + group;
      int n = n0 + wn + j * 8 + quad * 2;
      store(y, bias, m, n, M, N, acc[i][j][0]);
      store(y, bias, m, n + 1, M, N, acc[i][j][1]);
      store(y, bias, m + 8, n, M, N, acc[i][j][2]);
      store(y, bias, m + 8, n + 1, M, N, acc[i][j][3]);
    }
}

void linear_gelu(__nv_bfloat16* y, const __nv_bfloat16* x, const __nv_bfloat16* w, const __nv_bfloat16* bias, int M,
                 int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  size_t tiles_m = ((size_t)M + 63) / 64;
  int tiles_n = (int)(((size_t)N + 63) / 64);
  linear_gelu_kernel<<<(unsigned)(tiles_m * tiles_n), 128, 0, stream>>>(y, x, w, bias, M, N, K, tiles_n);
}
