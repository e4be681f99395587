// C = A B on tensor cores: A [M][K] and B [K][N] in f16, C [M][N] in f32, row by row. sm_80 and later.
// Launch: dim3((N + 63) / 64, (M + 63) / 64), 128 threads: four warps of 32 x 32 results each.
#include <cuda_fp16.h>

constexpr int kTile = 64, kDepth = 64;
// 16 bytes behind each row: the eight rows that a quarter of ldmatrix reads then lie in different banks, and stay aligned.
constexpr int kPad = 8;

// Eight neighbours, zero beyond the matrix. `whole`: rows begin at 16 bytes and are multiples of eight long.
__device__ void CopyEight(__half* to, const __half* from, int row, int rows, int column, int columns, bool whole) {
  const __half* source = from + static_cast<size_t>(row) * columns + column;
  if (whole && row < rows && column < columns) {
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(source);
    return;
  }
  for (int i = 0; i < 8; ++i) to[i] = row < rows && column + i < columns ? source[i] : __float2half(0.f);
}

// Four 8 x 8 matrices: lane i gives the address of row i % 8 of matrix i / 8.
__device__ void LoadMatrices(unsigned (&r)[4], const __half* row) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ void LoadMatricesTransposed(unsigned (&r)[4], const __half* row) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ void MultiplyAdd(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(128) tensor_core_mma(const __half* __restrict__ a, const __half* __restrict__ b,
                                                       float* __restrict__ c, int M, int N, int K) {
  __shared__ __align__(16) __half as[kTile][kDepth + kPad];
  __shared__ __align__(16) __half bs[kDepth][kTile + kPad];
  const int row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int m0 = warp / 2 * 32, n0 = warp % 2 * 32;
  const bool whole_a = K % 8 == 0 && reinterpret_cast<size_t>(a) % 16 == 0;
  const bool whole_b = N % 8 == 0 && reinterpret_cast<size_t>(b) % 16 == 0;
  float sums[2][4][4] = {};
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth / 8; i += 128) {
      const int ra = i / (kDepth / 8), ka = i % (kDepth / 8) * 8, rb = i / (kTile / 8), nb = i % (kTile / 8) * 8;
      CopyEight(&as[ra][ka], a, row0 + ra, M, k0 + ka, K, whole_a);
      CopyEight(&bs[rb][nb], b, k0 + rb, K, column0 + nb, N, whole_b);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      unsigned fa[2][4], fb[2][4];
      // A: matrices (rows 0-7, k 0-7), (rows 8-15, k 0-7), (rows 0-7, k 8-15), (rows 8-15, k 8-15).
      for (int m = 0; m < 2; ++m) LoadMatrices(fa[m], &as[m0 + m * 16 + lane % 16][k + lane / 16 * 8]);
      // B lies with n as its fast index, so it is transposed on the way: two tiles of eight columns at once.
      for (int n = 0; n < 2; ++n) LoadMatricesTransposed(fb[n], &bs[k + lane % 16][n0 + n * 16 + lane / 16 * 8]);
      for (int m = 0; m < 2; ++m)
        for (int n = 0; n < 4; ++n) MultiplyAdd(sums[m][n], fa[m], fb[n / 2][n % 2 * 2], fb[n / 2][n % 2 * 2 + 1]);
    }
    __syncthreads();
  }
  // A lane holds columns lane % 4 * 2 and the next one, of the rows lane / 4 and lane / 4 + 8.
  for (int m = 0; m < 2; ++m)
    for (int n = 0; n < 4; ++n)
      for (int i = 0; i < 4; ++i) {
        const int row = row0 + m0 + m * 16 + lane / 4 + i / 2 * 8, column = column0 + n0 + n * 8 + lane % 4 * 2 + i % 2;
        if (row < M && column < N) c[static_cast<size_t>(row) * N + column] = sums[m][n][i];
      }
}
