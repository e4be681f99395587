#include <cuda_runtime.h>


// d += a b of 16 x 32 and 32 x 8 bytes; without .satfinite sums wrap around, as the original's do.
__device__ __forceinline__ void multiply(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// 64 rows of 32 bytes, 48 apart: the fragments' words then lie in different banks. What is outside is zero.
template <bool kWords>
__device__ __forceinline__ void fetch(unsigned (*tile)[12], const signed char* from, int rows, int K, size_t row0, int k0) {
  for (int e = threadIdx.x; e < 64 * 8; e += 128) {
    size_t r = row0 + e / 8;
    int k = k0 + e % 8 * 4;
    unsigned word = 0;
    if (kWords) {
      if (r < (size_t)rows && k < K) word = *reinterpret_cast<const unsigned*>(from + r * K + k);
    } else {
      for (int j = 0; j < 4; ++j)
        if (r < (size_t)rows && k + j < K) word |= (unsigned)(unsigned char)from[r * K + k + j] << 8 * j;
    }
    tile[e / 8][e % 8] = word;
  }
}

// A block has 64 x 64 results, each of its four warps 32 x 32: two by four tiles of 16 x 8.
template <bool kWords>
__global__ void __launch_bounds__(128)
    product_kernel(int* c, const signed char* a, const signed char* b, int M, int N, int K, unsigned tiles_n) {
  __shared__ unsigned as[64][12], bs[64][12];
  size_t m0 = (size_t)(blockIdx.x / tiles_n) * 64;
  int n0 = (int)(blockIdx.x % tiles_n) * 64;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int group = lane / 4, quad = lane % 4, wm = warp / 2 * 32, wn = warp % 2 * 32;
  int acc[2][4][4] = {};
  int steps = K / 32 + (K % 32 != 0);
  for (int s = 0; s < steps; ++s) {
    fetch<kWords>(as, a, M, K, m0, s * 32);
    fetch<kWords>(bs, b, N, K, (size_t)n0, s * 32);
    __syncthreads();
    unsigned u[2][4], v[4][2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      int r = wm + i * 16 + group;
      u[i][0] = as[r][quad];
      u[i][1] = as[r + 8][quad];
      u[i][2] = as[r][quad + 4];
      u[i][3] = as[r + 8][quad + 4];
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int r = wn + j * 8 + group;
      v[j][0] = bs[r][quad];
      v[j][1] = bs[r][quad + 4];
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) multiply(acc[i][j], u[i], v[j]);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        size_t m = m0 + wm + i * 16 + group + e / 2 * 8;
        int n = n0 + wn + j * 8 + quad * 2 + e % 2;
        if (m < (size_t)M && n < N) c[m * N + n] = acc[i][j][e];
      }
}

void int8_product(int* c, const signed char* a, const signed char* b, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  size_t tiles_n = ((size_t)N + 63) / 64, tiles = ((size_t)M + 63) / 64 * tiles_n;
  if (K % 4 == 0 && ((size_t)a | (size_t)b) % 4 == 0)
    product_kernel<true><<<(unsigned)tiles, 128, 0, stream>>>(c, a, b, M, N, K, (unsigned)tiles_n);
  else product_kernel<false><<<(unsigned)tiles, 128, 0, stream>>>(c, a, b, M, N, K, (unsigned)tiles_n);
}
