#include <cuda_fp16.h>
#include <cuda_runtime.h>


constexpr int kStages = 3, kPitch = 40;  // rows of 32 halves, 80 bytes apart: ldmatrix meets no bank twice

typedef __half Tile[64][kPitch];

__device__ __forceinline__ unsigned in_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// 64 rows of 32 halves; what is outside becomes zero. By asynchronous copies of 16 bytes where rows and pointers allow it.
template <bool kAsync>
__device__ __forceinline__ void fetch(Tile& tile, const __half* from, int rows, int K, size_t row0, int k0) {
  if (kAsync) {
    for (int e = threadIdx.x; e < 64 * 4; e += 128) {
      size_t r = row0 + e / 4;
      int k = k0 + e % 4 * 8;
      bool inside = r < (size_t)rows && k < K;
      const __half* source = inside ? from + r * K + k : from;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(in_shared(&tile[e / 4][e % 4 * 8])),
                   "l"(source), "r"(inside ? 16 : 0)
                   : "memory");
    }
  } else {
    for (int e = threadIdx.x; e < 64 * 32; e += 128) {
      size_t r = row0 + e / 32;
      int k = k0 + e % 32;
      tile[e / 32][e % 32] = r < (size_t)rows && k < K ? from[r * K + k] : __float2half(0.0f);
    }
  }
}

__device__ __forceinline__ void load_four(unsigned (&a)[4], const __half* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(in_shared(p))
               : "memory");
}
__device__ __forceinline__ void load_two(unsigned (&b)[2], const __half* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(b[0]), "=r"(b[1])
               : "r"(in_shared(p))
               : "memory");
}
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A block has 64 x 64 results, each of its four warps 32 x 32. Two steps of 32 are under way while one is multiplied.
template <bool kAsync>
__global__ void __launch_bounds__(128)
    linear_kernel(__half* y, const __half* x, const __half* w, int M, int N, int K, unsigned tiles_n) {
  __shared__ __align__(16) Tile xs[kStages], ws[kStages];
  size_t m0 = (size_t)(blockIdx.x / tiles_n) * 64;
  int n0 = (int)(blockIdx.x % tiles_n) * 64;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
  int steps = K / 32 + (K % 32 != 0);
  float acc[2][4][4] = {};
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < steps) {
      fetch<kAsync>(xs[s], x, M, K, m0, s * 32);
      fetch<kAsync>(ws[s], w, N, K, (size_t)n0, s * 32);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int s = 0; s < steps; ++s) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();  // this step has arrived, and nobody uses the stage of the one before any more
    int next = s + kStages - 1;
    if (next < steps) {
      fetch<kAsync>(xs[next % kStages], x, M, K, m0, next * 32);
      fetch<kAsync>(ws[next % kStages], w, N, K, (size_t)n0, next * 32);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    const Tile &a_tile = xs[s % kStages], &b_tile = ws[s % kStages];
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      unsigned a[2][4], b[4][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) load_four(a[i], &a_tile[wm + i * 16 + lane % 16][kk + lane / 16 * 8]);
#pragma unroll
      for (int j = 0; j < 4; ++j) load_two(b[j], &b_tile[wn + j * 8 + lane % 8][kk + lane / 8 % 2 * 8]);
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply(acc[i][j], a[i], b[j]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        size_t m = m0 + wm + i * 16 + lane / 4 + e / 2 * 8;
        int n = n0 + wn + j * 8 + lane % 4 * 2 + e % 2;
        if (m < (size_t)M && n < N) y[m * N + n] = __float2half(acc[i][j][e]);
      }
}

void linear(__half* y, const __half* x, const __half* w, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  size_t tiles_n = ((size_t)N + 63) / 64, tiles = ((size_t)M + 63) / 64 * tiles_n;
  if (K % 8 == 0 && ((size_t)x | (size_t)w) % 16 == 0)
    linear_kernel<true><<<(unsigned)tiles, 128, 0, stream>>>(y, x, w, M, N, K, (unsigned)tiles_n);
  else linear_kernel<false><<<(unsigned)tiles, 128, 0, stream>>>(y, x, w, M, N, K, (unsigned)tiles_n);
}
