#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// c (M, N) = a (M, K) @ b (K, N). A warp computes 16 x 8 elements with mma.sync; columns that do not fill a tile are
// left to the scalar code below.
__device__ inline unsigned pack(__half lo, __half hi) {
  return (unsigned)__half_as_ushort(lo) | ((unsigned)__half_as_ushort(hi) << 16);
}

__device__ inline void mma16816(float* d, const unsigned* a, const unsigned* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void __launch_bounds__(32) hgemm_kernel(__half* c, const __half* a, const __half* b, int M, int N, int K) {
  int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  int row0 = blockIdx.y * 16, col0 = blockIdx.x * 8;
  if (col0 + 8 <= N) {
    const __half zero = __float2half(0.0f);
    float d[4] = {};
    int r0 = row0 + g, r1 = row0 + g + 8, n = col0 + g;
    auto at_a = [&](int r, int k) { return r < M && k < K ? a[(size_t)r * K + k] : zero; };
    auto at_b = [&](int k) { return k < K ? b[(size_t)k * N + n] : zero; };
    for (int k0 = 0; k0 < K; k0 += 16) {
      int k = k0 + 2 * t;
      unsigned fa[4] = {pack(at_a(r0, k), at_a(r0, k + 1)), pack(at_a(r1, k), at_a(r1, k + 1)),
                        pack(at_a(r0, k + 8), at_a(r0, k + 9)), pack(at_a(r1, k + 8), at_a(r1, k + 9))};
      unsigned fb[2] = {pack(at_b(k), at_b(k + 1)), pack(at_b(k + 8), at_b(k + 9))};
      mma16816(d, fa, fb);
    }
    int col = col0 + 2 * t;
    if (r0 < M) {
      c[(size_t)r0 * N + col] = __float2half(d[0]);
      c[(size_t)r0 * N + col + 1] = __float2half(d[1]);
    }
    if (r1 < M) {
      c[(size_t)r1 * N + col] = __float2half(d[2]);
      c[(size_t)r1 * N + col + 1] = __float2half(d[3]);
    }
  } else {
    int width = N - col0;
    for (int i = lane; i < 16 * width; i += 32) {
      int row = row0 + i / width, col = col0 + i % width;
      if (row >= M) break;
      const __half* x = a + (size_t)row * K;
      const __half* y = b + col;
      float even = 0.0f, odd = 0.0f;
      for (int k = 0; k + 1 < K; k += 2) {
        even += __half2float(x[k]) * __half2float(y[(size_t)k * N]);
        odd += __half2float(x[k + 1]) * __half2float(y[(size_t)(k + 1) * N]);
      }
      c[(size_t)row * N + col] = __float2half(even + odd);
    }
  }
}

void hgemm(__half* c, const __half* a, const __half* b, int M, int N, int K) {
  dim3 grid((N + 7) / 8, (M + 15) / 16);
  hgemm_kernel<<<grid, 32>>>(c, a, b, M, N, K);
}
