// A zoo of SGEMM kernels, from the first attempt to the one that is nearly as fast as the library.
// All matrices are row-major. C[M,N] = A[M,K] * B[K,N]
#pragma once
#include <cuda_runtime.h>

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

struct NoEpilogue {
  __device__ float operator()(float v, int) const { return v; }
};

struct BiasRelu {
  const float *bias;
  __device__ float operator()(float v, int col) const { return fmaxf(v + bias[col], 0.0f); }
};

// 1: one thread per element
template <class Epilogue>
__global__ void sgemm_naive(int M, int N, int K, const float *A, const float *B, float *C, Epilogue epi) {
  const uint x = blockIdx.x * blockDim.x + threadIdx.x;
  const uint y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < M && y < N) {
    float tmp = 0.0;
    for (int i = 0; i < K; ++i) {
      tmp += A[x * K + i] * B[i * N + y];
    }
    C[x * N + y] = epi(tmp, y);
  }
}

// 2: tiles in shared memory, zero padded
template <const int BLOCKSIZE, class Epilogue>
__global__ void sgemm_shared_mem_block(int M, int N, int K, const float *A, const float *B, float *C, Epilogue epi) {
  __shared__ float As[BLOCKSIZE][BLOCKSIZE];
  __shared__ float Bs[BLOCKSIZE][BLOCKSIZE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * BLOCKSIZE + ty;
  const int col = blockIdx.x * BLOCKSIZE + tx;
  float tmp = 0.0f;
  for (int bkIdx = 0; bkIdx < K; bkIdx += BLOCKSIZE) {
    As[ty][tx] = (row < M && bkIdx + tx < K) ? A[row * K + bkIdx + tx] : 0.0f;
    Bs[ty][tx] = (bkIdx + ty < K && col < N) ? B[(bkIdx + ty) * N + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int dotIdx = 0; dotIdx < BLOCKSIZE; ++dotIdx) {
      tmp += As[ty][dotIdx] * Bs[dotIdx][tx];
    }
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = epi(tmp, col);
}

// 3: two-dimensional tiles of TM x TN results per thread, vector loads where rows are aligned
template <const int BM, const int BN, const int BK, const int TM, const int TN, class Epilogue>
__global__ void __launch_bounds__((BM * BN) / (TM * TN))
    sgemm2DBlocktiling(int M, int N, int K, const float *__restrict__ A, const float *__restrict__ B,
                       float *__restrict__ C, Epilogue epi) {
  constexpr int kThreads = (BM * BN) / (TM * TN);
  __shared__ float As[BK][BM + 4];  // transposed
  __shared__ float Bs[BK][BN];
  const int tid = threadIdx.x;
  const int threadCol = tid % (BN / TN), threadRow = tid / (BN / TN);
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const bool vecA = K % 4 == 0, vecB = N % 4 == 0;

  float threadResults[TM][TN] = {};
  float regM[TM], regN[TN];

  for (int bk = 0; bk < K; bk += BK) {
    if (vecA) {
      for (int i = tid; i < BM * BK / 4; i += kThreads) {
        const int r = i / (BK / 4), k = (i % (BK / 4)) * 4;
        float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
        if (row0 + r < M && bk + k < K) v = *reinterpret_cast<const float4 *>(&A[(row0 + r) * K + bk + k]);
        As[k + 0][r] = v.x;
        As[k + 1][r] = v.y;
        As[k + 2][r] = v.z;
        As[k + 3][r] = v.w;
      }
    } else {
      for (int i = tid; i < BM * BK; i += kThreads) {
        const int r = i / BK, k = i % BK;
        As[k][r] = (row0 + r < M && bk + k < K) ? A[(row0 + r) * K + bk + k] : 0.0f;
      }
    }
    if (vecB) {
      for (int i = tid; i < BK * BN / 4; i += kThreads) {
        const int k = i / (BN / 4), c = (i % (BN / 4)) * 4;
        float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
        if (bk + k < K && col0 + c < N) v = *reinterpret_cast<const float4 *>(&B[(bk + k) * N + col0 + c]);
        *reinterpret_cast<float4 *>(&Bs[k][c]) = v;
      }
    } else {
      for (int i = tid; i < BK * BN; i += kThreads) {
        const int k = i / BN, c = i % BN;
        Bs[k][c] = (bk + k < K && col0 + c < N) ? B[(bk + k) * N + col0 + c] : 0.0f;
      }
    }
    __syncthreads();
#pragma unroll
    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
#pragma unroll
      for (int i = 0; i < TM; ++i) regM[i] = As[dotIdx][threadRow * TM + i];
#pragma unroll
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dotIdx][threadCol * TN + i];
#pragma unroll
      for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int n = 0; n < TN; ++n) threadResults[m][n] += regM[m] * regN[n];
    }
    __syncthreads();
  }

  for (int m = 0; m < TM; ++m) {
    for (int n = 0; n < TN; ++n) {
      const int r = row0 + threadRow * TM + m, c = col0 + threadCol * TN + n;
      if (r < M && c < N) C[r * N + c] = epi(threadResults[m][n], c);
    }
  }
}
