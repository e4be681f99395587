#include <cuda_runtime.h>


// C[M,N] += A[M,K] * B[K,N]; tiles of 16 x 32, slices of 256 of K add to C with atomics.
__global__ void __launch_bounds__(256) accumulate_kernel(float* C, const float* A, const float* B, int M, int N, int K) {
  __shared__ float as[16][33];
  __shared__ float bs[32][32];
  int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
  int n = blockIdx.x * 32 + tx, m0 = blockIdx.y * 16;
  int from = blockIdx.z * 256, to = min(from + 256, K);
  float a0 = 0.0f, a1 = 0.0f;
  for (int k0 = from; k0 < to; k0 += 32) {
    for (int r = ty; r < 16; r += 8) as[r][tx] = m0 + r < M && k0 + tx < to ? A[(size_t)(m0 + r) * K + k0 + tx] : 0.0f;
    for (int r = ty; r < 32; r += 8) bs[r][tx] = k0 + r < to && n < N ? B[(size_t)(k0 + r) * N + n] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k) {
      a0 += as[ty][k] * bs[k][tx];
      a1 += as[ty + 8][k] * bs[k][tx];
    }
    __syncthreads();
  }
  if (n < N) {
    if (m0 + ty < M) atomicAdd(C + (size_t)(m0 + ty) * N + n, a0);
    if (m0 + ty + 8 < M) atomicAdd(C + (size_t)(m0 + ty + 8) * N + n, a1);
  }
}

void sgemm_accumulate(float* C, const float* A, const float* B, int M, int N, int K, cudaStream_t stream) {
  accumulate_kernel<<<dim3((N + 31) / 32, (M + 15) / 16, (K + 255) / 256), 256, 0, stream>>>(C, A, B, M, N, K);
}
