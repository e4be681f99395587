#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// c (M, N) = a (M, K) @ b (K, N). Four warps share a tile of 16 rows and 64 columns of b; mma.sync with float accumulators.
__device__ inline unsigned pack(__half lo, __half hi) {
  return (unsigned)__half_as_ushort(lo) | ((unsigned)__half_as_ushort(hi) << 16);
}

__device__ inline void mma16816(float* d, const unsigned* a, const unsigned* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void __launch_bounds__(128) hgemm_kernel(__half* c, const __half* a, const __half* b, int M, int N, int K) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  int row0 = blockIdx.y * 16, col0 = blockIdx.x * 64 + warp * 16;
  const __half zero = __float2half(0.0f);
  float d[2][4] = {};
  int r0 = row0 + g, r1 = row0 + g + 8;
  auto at_a = [&](int r, int k) { return r < M && k < K ? a[(size_t)r * K + k] : zero; };
  auto at_b = [&](int k, int n) { return k < K && n < N ? b[(size_t)k * N + n] : zero; };
  for (int k0 = 0; k0 < K; k0 += 16) {
    int k = k0 + 2 * t;
    unsigned fa[4] = {pack(at_a(r0, k), at_a(r0, k + 1)), pack(at_a(r1, k), at_a(r1, k + 1)),
                      pack(at_a(r0, k + 8), at_a(r0, k + 9)), pack(at_a(r1, k + 8), at_a(r1, k + 9))};
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      int n = col0 + 8 * j + g;
      unsigned fb[2] = {pack(at_b(k, n), at_b(k + 1, n)), pack(at_b(k + 8, n), at_b(k + 9, n))};
      mma16816(d[j], fa, fb);
    }
  }
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    int col = col0 + 8 * j + 2 * t;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      int r = e < 2 ? r0 : r1, n = col + e % 2;
      if (r < M && n < N) c[(size_t)r * N + n] = __float2half(d[j][e]);
    }
  }
}

void hgemm(__half* c, const __half* a, const __half* b, int M, int N, int K) {
  dim3 grid((N + 63) / 64, (M + 15) / 16);
  hgemm_kernel<<<grid, 128>>>(c, a, b, M, N, K);
}
