#include <cuda_runtime.h>

#include <cstdint>

// Products of any size.
__global__ void gemm_kernel(float* C, const float* A, const float* B, int M, int N, int K, float alpha, float beta) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (long long)M * N) return;
  long long r = i / N, c = i % N;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[r * K + k] * B[(long long)k * N + c];
  C[i] = beta == 0 ? alpha * sum : alpha * sum + beta * C[i];
}

// Large ones: a tile of 64 x 64 for each block, 4 x 4 for each thread, 16 deep in shared memory.
__global__ void __launch_bounds__(256) tile_kernel(float* C, const float* A, const float* B, int M, int N, int K, int across) {
  __shared__ float a[16][68], b[16][64];
  int r0 = blockIdx.x / across * 64, c0 = blockIdx.x % across * 64, t = threadIdx.x, tr = t / 16 * 4, tc = t % 16 * 4;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int e = j * 256 + t, ar = e / 16, ak = e % 16, bk = e / 64, bc = e % 64;
      a[ak][ar] = r0 + ar < M && k0 + ak < K ? A[(size_t)(r0 + ar) * K + k0 + ak] : 0.f;
      b[bk][bc] = c0 + bc < N && k0 + bk < K ? B[(size_t)(k0 + bk) * N + c0 + bc] : 0.f;
    }
    __syncthreads();
    int most = K - k0 < 16 ? K - k0 : 16;
    for (int k = 0; k < most; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += a[k][tr + i] * b[k][tc + j];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (r0 + tr + i < M && c0 + tc + j < N) C[(size_t)(r0 + tr + i) * N + c0 + tc + j] = sum[i][j];
}

void sgemm(float* C, const float* A, const float* B, int M, int N, int K, float alpha, float beta, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  size_t across = ((size_t)N + 63) / 64, blocks = across * (((size_t)M + 63) / 64);
  if ((long long)M * N >= 65536)
    tile_kernel<<<(unsigned)blocks, 256, 0, stream>>>(C, A, B, M, N, K, (int)across);
  else
    gemm_kernel<<<(unsigned)(((long long)M * N + 255) / 256), 256, 0, stream>>>(C, A, B, M, N, K, alpha, beta);
}
