// y[b, m] = sum_k A[b, m, k] x[b, k]
#include "gemm_kernels.cuh"

__global__ void bmv1(const float *A, const float *x, float *y, int batch, int M, int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= batch * M) return;
  int b = i / M;
  float acc = 0;
  for (int k = 0; k < K; k++) acc += A[(size_t)i * K + k] * x[b * K + k];
  y[i] = acc;
}

__global__ void bmv2(const float *A, const float *x, float *y, int M, int K) {
  __shared__ float xs[64];
  const int b = blockIdx.y, m = blockIdx.x * 64 + threadIdx.x;
  float acc = 0;
  for (int k0 = 0; k0 < K; k0 += 64) {
    __syncthreads();
    if (k0 + threadIdx.x < K) xs[threadIdx.x] = x[b * K + k0 + threadIdx.x];
    __syncthreads();
    if (m < M)
      for (int k = 0; k < min(64, K - k0); k++) acc += A[((size_t)b * M + m) * K + k0 + k] * xs[k];
  }
  if (m < M) y[b * M + m] = acc;
}

__global__ void bmv3(const float *__restrict__ A, const float *__restrict__ x, float *__restrict__ y, int batch, int M, int K) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= batch * M) return;
  const float *a = A + (size_t)row * K;
  const float *v = x + (row / M) * K;
  float acc = 0.f;
  if (K % 4 == 0) {
    for (int k = threadIdx.x; k < K / 4; k += 32) {
      float4 p = __ldg(reinterpret_cast<const float4 *>(a) + k);
      float4 q = __ldg(reinterpret_cast<const float4 *>(v) + k);
      acc += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
  } else {
    for (int k = threadIdx.x; k < K; k += 32) acc += a[k] * v[k];
  }
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) acc += __shfl_xor_sync(0xffffffff, acc, o);
  if (threadIdx.x == 0) y[row] = acc;
}

void bmv_naive(const float *A, const float *x, float *y, int batch, int M, int K) {
  bmv1<<<CEIL_DIV(batch * M, 256), 256>>>(A, x, y, batch, M, K);
}
void bmv_tiled(const float *A, const float *x, float *y, int batch, int M, int K) {
  bmv2<<<dim3(CEIL_DIV(M, 64), batch), 64>>>(A, x, y, M, K);
}
void bmv_fast(const float *A, const float *x, float *y, int batch, int M, int K) {
  bmv3<<<CEIL_DIV(batch * M, 8), dim3(32, 8)>>>(A, x, y, batch, M, K);
}
