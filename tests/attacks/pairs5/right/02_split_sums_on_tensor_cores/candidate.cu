#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;


// blockIdx.y is the part of K, a multiple of 32 long (the last one shorter, or empty: then it is all zeros). A block has
// 32 x 64 elements, each of four warps 16 x 32.
__global__ void __launch_bounds__(128)
    partial_products(float* work, const __half* __restrict__ a, const __half* __restrict__ b, int M, int N, int K,
                     int tiles_n) {
  __shared__ __align__(32) __half as[32 * 48];  // [m][k]
  __shared__ __align__(32) __half bs[32 * 80];  // [k][n]
  __shared__ __align__(32) float cs[32 * 68];   // [m][n]
  int t = threadIdx.x, warp = t / 32, wm = warp / 2 * 16, wn = warp % 2 * 32;
  size_t m0 = (size_t)(blockIdx.x / tiles_n) * 32, n0 = (size_t)(blockIdx.x % tiles_n) * 64;
  long long part = ((long long)K + 127) / 128 * 32, begin = part * blockIdx.y;
  long long end = begin + part < K ? begin + part : K;
  const __half zero = __float2half(0.0f);

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
  wmma::fill_fragment(acc[0], 0.0f);
  wmma::fill_fragment(acc[1], 0.0f);
  for (long long k0 = begin; k0 < end; k0 += 32) {
    for (int e = t; e < 32 * 32; e += 128) {
      size_t m = m0 + e / 32;
      long long k = k0 + e % 32;
      as[e / 32 * 48 + e % 32] = m < (size_t)M && k < end ? a[m * K + k] : zero;
    }
    for (int e = t; e < 32 * 64; e += 128) {
      long long k = k0 + e / 64;
      size_t n = n0 + e % 64;
      bs[e / 64 * 80 + e % 64] = k < end && n < (size_t)N ? b[(size_t)k * N + n] : zero;
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> af;
      wmma::load_matrix_sync(af, as + wm * 48 + kk, 48);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> bf;
        wmma::load_matrix_sync(bf, bs + kk * 80 + wn + j * 16, 80);
        wmma::mma_sync(acc[j], af, bf, acc[j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 2; ++j)
    wmma::store_matrix_sync(cs + wm * 68 + wn + j * 16, acc[j], 68, wmma::mem_row_major);
  __syncthreads();
  float* out = work + blockIdx.y * (size_t)M * N;
  for (int e = t; e < 32 * 64; e += 128) {
    size_t m = m0 + e / 64, n = n0 + e % 64;
    if (m < (size_t)M && n < (size_t)N) out[m * N + n] = cs[e / 64 * 68 + e % 64];
  }
}

__global__ void add_partials(__half* c, const float* __restrict__ work, int M, int N) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, total = (size_t)M * N;
  if (i < total) c[i] = __float2half((work[i] + work[total + i]) + (work[2 * total + i] + work[3 * total + i]));
}

// c[M,N] = a[M,K] * b[K,N]; work is memory to work in.
void hgemm_split(__half* c, const __half* a, const __half* b, float* work, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  size_t tiles_m = ((size_t)M + 31) / 32;
  int tiles_n = (int)(((size_t)N + 63) / 64);
  partial_products<<<dim3((unsigned)(tiles_m * tiles_n), 4), 128, 0, stream>>>(work, a, b, M, N, K, tiles_n);
  add_partials<<<(unsigned)(((size_t)M * N + 255) / 256), 256, 0, stream>>>(c, work, M, N);
}
