#include <cuda_fp16.h>
#include <cuda_runtime.h>


// 64 rows of 32 bytes as eight words each, zeros where there is nothing. Whole words where pointer and width allow it.
__device__ void load_tile(int (*tile)[9], const signed char* from, int rows, int K, size_t row0, int k0, bool words) {
  for (int e = threadIdx.x; e < 64 * 8; e += 256) {
    size_t r = row0 + e / 8;
    int k = k0 + e % 8 * 4;
    int word = 0;
    if (r < (size_t)rows) {
      const signed char* at = from + r * K + k;
      if (words && k + 4 <= K) {
        word = *(const int*)at;
      } else {
        for (int j = 0; j < 4; ++j)
          if (k + j < K) word |= (int)((unsigned)(unsigned char)at[j] << (8 * j));
      }
    }
    tile[e / 8][e % 8] = word;
  }
}

// 64 x 64 elements per block, 4 x 4 per thread, four products per instruction. The sums are integers and exact.
__global__ void __launch_bounds__(256)
    gemm_kernel(__half* c, const signed char* __restrict__ a, const signed char* __restrict__ b,
                const float* __restrict__ row_scale, const float* __restrict__ column_scale, int M, int N, int K,
                int tiles_n, bool words) {
  __shared__ int as[64][9], bs[64][9];
  size_t m0 = (size_t)(blockIdx.x / tiles_n) * 64, n0 = (size_t)(blockIdx.x % tiles_n) * 64;
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int acc[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
    load_tile(as, a, M, K, m0, k0, words);
    load_tile(bs, b, N, K, n0, k0, words);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      int av[4], bv[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        av[i] = as[ty + i * 16][k];
        bv[i] = bs[tx + i * 16][k];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] = __dp4a(av[i], bv[j], acc[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      size_t m = m0 + ty + i * 16, n = n0 + tx + j * 16;
      if (m < (size_t)M && n < (size_t)N)
        c[m * N + n] = __float2half((float)acc[i][j] * row_scale[m] * column_scale[n]);
    }
}

void int8_gemm(__half* c, const signed char* a, const signed char* b, const float* row_scale, const float* column_scale,
               int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  size_t tiles_m = ((size_t)M + 63) / 64;
  int tiles_n = (int)(((size_t)N + 63) / 64);
  bool words = K % 4 == 0 && ((size_t)a | (size_t)b) % 4 == 0;
  gemm_kernel<<<(unsigned)(tiles_m * tiles_n), 256, 0, stream>>>(c, a, b, row_scale, column_scale, M, N, K, tiles_n,
                                                                words);
}
