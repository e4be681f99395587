#include "gemm_kernels.cuh"

// ---- C = alpha * A^T * B + beta * C,  A is stored [K,M] -------------------------------------------
__global__ void sgemm_tn(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float acc = 0.f;
  for (int k = 0; k < K; k++) acc += A[k * M + row] * B[k * N + col];
  C[row * N + col] = alpha * acc + beta * C[row * N + col];
}

void gemm_tn(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta) {
  dim3 block(32, 8);
  dim3 grid(CEIL_DIV(N, 32), CEIL_DIV(M, 8));
  sgemm_tn<<<grid, block>>>(M, N, K, alpha, A, B, beta, C);
}

// ---- C = A * B^T,  B is stored [N,K]; one warp per result -----------------------------------------
__global__ void sgemm_nt_warp(int M, int N, int K, const float *__restrict__ A, const float *__restrict__ B,
                              float *__restrict__ C) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x & 31;
  if (warp >= M * N) return;
  const float *a = A + (warp / N) * K, *b = B + (warp % N) * K;
  float acc = 0.f;
  for (int k = lane; k < K; k += 32) acc = fmaf(a[k], b[k], acc);
  for (int o = 16; o; o >>= 1) acc += __shfl_down_sync(~0u, acc, o);
  if (lane == 0) C[warp] = acc;
}

void gemm_nt(const float *A, const float *B, float *C, int M, int N, int K) {
  sgemm_nt_warp<<<CEIL_DIV(M * N, 4), 128>>>(M, N, K, A, B, C);
}

// ---- batched: a matrix per z ----------------------------------------------------------------------
#define BT 8
__global__ void sgemm_batched(int M, int N, int K, const float *A, const float *B, float *C) {
  __shared__ float sa[BT][BT + 1], sb[BT][BT + 1];
  A += (size_t)blockIdx.z * M * K;
  B += (size_t)blockIdx.z * K * N;
  C += (size_t)blockIdx.z * M * N;
  int r = blockIdx.y * BT + threadIdx.y, c = blockIdx.x * BT + threadIdx.x;
  float acc = 0.f;
  for (int t = 0; t < CEIL_DIV(K, BT); t++) {
    int ka = t * BT + threadIdx.x, kb = t * BT + threadIdx.y;
    sa[threadIdx.y][threadIdx.x] = (r < M && ka < K) ? A[r * K + ka] : 0.f;
    sb[threadIdx.y][threadIdx.x] = (kb < K && c < N) ? B[kb * N + c] : 0.f;
    __syncthreads();
    for (int k = 0; k < BT; k++) acc += sa[threadIdx.y][k] * sb[k][threadIdx.x];
    __syncthreads();
  }
  if (r < M && c < N) C[r * N + c] = acc;
}

void gemm_batched(const float *A, const float *B, float *C, int batch, int M, int N, int K) {
  sgemm_batched<<<dim3(CEIL_DIV(N, BT), CEIL_DIV(M, BT), batch), dim3(BT, BT)>>>(M, N, K, A, B, C);
}

// ---- split-K for tall and skinny: partial products in a workspace [splits, M, N], then a sum ------
__global__ void splitk_partial(int M, int N, int K, int chunk, const float *A, const float *B, float *W) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= M * N) return;
  int m = idx / N, n = idx % N;
  int k0 = blockIdx.y * chunk, k1 = min(K, k0 + chunk);
  float acc = 0.f;
  for (int k = k0; k < k1; k++) acc += A[m * K + k] * B[k * N + n];
  W[(size_t)blockIdx.y * M * N + idx] = acc;
}

__global__ void splitk_sum(int MN, int splits, const float *W, float *C) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= MN) return;
  float acc = 0.f;
  for (int s = 0; s < splits; s++) acc += W[(size_t)s * MN + idx];
  C[idx] = acc;
}

void gemm_split_k(const float *A, const float *B, float *C, float *workspace, int M, int N, int K, int splits) {
  int chunk = CEIL_DIV(K, splits);
  splitk_partial<<<dim3(CEIL_DIV(M * N, 128), splits), 128>>>(M, N, K, chunk, A, B, workspace);
  splitk_sum<<<CEIL_DIV(M * N, 128), 128>>>(M * N, splits, workspace, C);
}

// ---- exact tiles only: the caller pads to multiples of 16 -----------------------------------------
__global__ void sgemm_padded(const float *A, const float *B, float *C, int N, int K) {
  __shared__ float As[16][16], Bs[16][16];
  int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
  float acc = 0.f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    As[threadIdx.y][threadIdx.x] = A[r * K + k0 + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * N + c];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[r * N + c] = acc;
}

int gemm_padded(const float *A, const float *B, float *C, int M, int N, int K) {
  if (M % 16 || N % 16 || K % 16) return -1;
  sgemm_padded<<<dim3(N / 16, M / 16), dim3(16, 16)>>>(A, B, C, N, K);
  return 0;
}
