// Linear layer with an unmerged LoRA adapter:  y = x W^T + bias + alpha * (x A^T) B^T
//   x: [M][K]   W: [N][K]   A: [R][K]   B: [N][R]   y: [M][N]   half, xa: [M][R] float workspace
#include "common.cuh"

#define BM 32
#define BN 32
#define BK 16

// One block of four warps per row of x, a warp per adapter rank.
__global__ void lora_down(const __half* __restrict__ x, const __half* __restrict__ a, float* __restrict__ xa, int K, int R) {
  const int warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
  const __half* row = x + (size_t)blockIdx.x * K;
  for (int r = warp; r < R; r += 4) {
    float sum = 0.f;
    for (int k = lane; k < K; k += WARP_SIZE) sum += __half2float(row[k]) * __half2float(a[(size_t)r * K + k]);
    sum = warp_sum(sum);
    if (lane == 0) xa[(size_t)blockIdx.x * R + r] = sum;
  }
}

// 16 x 16 threads, each makes 2 x 2 outputs that are 16 apart.
__global__ void __launch_bounds__(256)
linear_up(const __half* __restrict__ x, const __half* __restrict__ w, const __half* __restrict__ bias, const float* __restrict__ xa,
          const __half* __restrict__ b, __half* __restrict__ y, int M, int N, int K, int R, float alpha) {
  __shared__ float xs[BM][BK + 1];
  __shared__ float ws[BN][BK + 1];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  float acc[2][2] = {{0.f, 0.f}, {0.f, 0.f}};

  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += 256) {
      const int r = i / BK, c = i % BK;
      xs[r][c] = m0 + r < M && k0 + c < K ? __half2float(x[(size_t)(m0 + r) * K + k0 + c]) : 0.f;
      ws[r][c] = n0 + r < N && k0 + c < K ? __half2float(w[(size_t)(n0 + r) * K + k0 + c]) : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      const float x0 = xs[ty][k], x1 = xs[ty + 16][k];
      const float w0 = ws[tx][k], w1 = ws[tx + 16][k];
      acc[0][0] += x0 * w0;
      acc[0][1] += x0 * w1;
      acc[1][0] += x1 * w0;
      acc[1][1] += x1 * w1;
    }
    __syncthreads();
  }

  for (int i = 0; i < 2; ++i) {
    const int m = m0 + ty + 16 * i;
    if (m >= M) continue;
    for (int j = 0; j < 2; ++j) {
      const int n = n0 + tx + 16 * j;
      if (n >= N) continue;
      float up = 0.f;
      for (int r = 0; r < R; ++r) up += xa[(size_t)m * R + r] * __half2float(b[(size_t)n * R + r]);
      y[(size_t)m * N + n] = __float2half(acc[i][j] + __half2float(bias[n]) + alpha * up);
    }
  }
}

bool lora_linear(const __half* x, const __half* w, const __half* bias, const __half* a, const __half* b, float* xa, __half* y, int M,
                 int N, int K, int R, float alpha, cudaStream_t stream) {
  if (M == 0 || N == 0) return true;
  lora_down<<<M, 4 * WARP_SIZE, 0, stream>>>(x, a, xa, K, R);
  linear_up<<<dim3(CEIL_DIV(N, BN), CEIL_DIV(M, BM)), 256, 0, stream>>>(x, w, bias, xa, b, y, M, N, K, R, alpha);
  return cudaGetLastError() == cudaSuccess;
}
