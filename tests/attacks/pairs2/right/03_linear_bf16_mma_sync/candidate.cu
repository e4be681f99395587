#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// out[M,N] = x[M,K] * w[N,K]^T + bias[N]: mma wants w by columns, which it is; the workspace is not needed.
__device__ __forceinline__ void mma_16816(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void __launch_bounds__(128) linear_kernel(bf16* out, const bf16* x, const bf16* w, const bf16* bias, int M, int N, int K) {
  __shared__ __align__(16) bf16 xs[32][16 + 8];
  __shared__ __align__(16) bf16 ws[32][16 + 8];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int g = lane / 4, t = lane % 4;
  int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
  int wm = warp / 2 * 16, wn = warp % 2 * 16;
  float acc[2][4] = {};
  const bf16 zero = __float2bfloat16(0.0f);
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int e = threadIdx.x; e < 32 * 16; e += 128) {
      int r = e / 16, k = e % 16;
      xs[r][k] = m0 + r < M && k0 + k < K ? x[(size_t)(m0 + r) * K + k0 + k] : zero;
      ws[r][k] = n0 + r < N && k0 + k < K ? w[(size_t)(n0 + r) * K + k0 + k] : zero;
    }
    __syncthreads();
    unsigned a[4];
    a[0] = *(const unsigned*)&xs[wm + g][2 * t];
    a[1] = *(const unsigned*)&xs[wm + g + 8][2 * t];
    a[2] = *(const unsigned*)&xs[wm + g][2 * t + 8];
    a[3] = *(const unsigned*)&xs[wm + g + 8][2 * t + 8];
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      unsigned b[2];
      b[0] = *(const unsigned*)&ws[wn + j * 8 + g][2 * t];
      b[1] = *(const unsigned*)&ws[wn + j * 8 + g][2 * t + 8];
      mma_16816(acc[j], a, b);
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 2; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      int m = m0 + wm + g + (i / 2) * 8, n = n0 + wn + j * 8 + 2 * t + i % 2;
      if (m < M && n < N) out[(size_t)m * N + n] = __float2bfloat16(acc[j][i] + __bfloat162float(bias[n]));
    }
}

void linear_bf16(bf16* out, const bf16* x, const bf16* w, const bf16* bias, bf16* wt, int M, int N, int K,
                 cudaStream_t stream) {
  linear_kernel<<<dim3((N + 31) / 32, (M + 31) / 32), 128, 0, stream>>>(out, x, w, bias, M, N, K);
}
