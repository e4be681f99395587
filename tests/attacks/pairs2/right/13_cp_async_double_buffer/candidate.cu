#include <cuda_runtime.h>


#include <cuda_pipeline.h>

// C[b] = A[b] * B[b]: [M,K] * [K,N]; tiles of 32 x 32 x 16, the next one on its way while this one is multiplied.
__global__ void __launch_bounds__(256) bmm_kernel(float* C, const float* A, const float* B, int M, int N, int K) {
  __shared__ float as[2][32][16];
  __shared__ float bs[2][16][32];
  int tid = threadIdx.x, tx = tid % 32, ty = tid / 32;
  int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
  size_t batch = blockIdx.z;
  auto fetch = [&](int buffer, int k0) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      int e = tid + j * 256;
      int m = e / 16, ka = e % 16;
      if (m0 + m < M && k0 + ka < K)
        __pipeline_memcpy_async(&as[buffer][m][ka], A + (batch * M + m0 + m) * K + k0 + ka, 4);
      else
        as[buffer][m][ka] = 0.0f;
      int kb = e / 32, n = e % 32;
      if (k0 + kb < K && n0 + n < N)
        __pipeline_memcpy_async(&bs[buffer][kb][n], B + (batch * K + k0 + kb) * N + n0 + n, 4);
      else
        bs[buffer][kb][n] = 0.0f;
    }
    __pipeline_commit();
  };
  float acc[4] = {};
  fetch(0, 0);
  int buffer = 0;
  for (int k0 = 0; k0 < K; k0 += 16, buffer ^= 1) {
    if (k0 + 16 < K) {
      fetch(buffer ^ 1, k0 + 16);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i) acc[i] += as[buffer][ty + i * 8][k] * bs[buffer][k][tx];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    int m = m0 + ty + i * 8, n = n0 + tx;
    if (m < M && n < N) C[(batch * M + m) * N + n] = acc[i];
  }
}

void batched_matmul(float* C, const float* A, const float* B, int batch, int M, int N, int K, cudaStream_t stream) {
  bmm_kernel<<<dim3((N + 31) / 32, (M + 31) / 32, batch), 256, 0, stream>>>(C, A, B, M, N, K);
}
