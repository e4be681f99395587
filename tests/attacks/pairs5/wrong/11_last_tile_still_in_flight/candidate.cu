#include <cuda_runtime.h>


// Copies 4 bytes behind the threads' back; zeros if there is no such element.
__device__ void copy_async(float* to, const float* from, bool exists) {
  unsigned address = (unsigned)__cvta_generic_to_shared(to);
  int bytes = exists ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
}

__device__ void load_tile(float (*tile)[17], const float* from, int rows, int K, int row0, int k0) {
  for (int e = threadIdx.x; e < 64 * 16; e += 256) {
    int r = row0 + e / 16, k = k0 + e % 16;
    bool exists = r < rows && k < K;
    copy_async(&tile[e / 16][e % 16], exists ? from + (size_t)r * K + k : from, exists);
  }
}

// A block has 64 x 64 elements of c, a thread 4 x 4. The next tile is copied while the present one is used.
__global__ void __launch_bounds__(256)
    sgemm_kernel(float* c, const float* __restrict__ a, const float* __restrict__ b, int M, int N, int K) {
  __shared__ float as[2][64][17], bs[2][64][17];
  int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float acc[4][4] = {};
  int tiles = (K + 15) / 16;
  if (tiles > 0) {
    load_tile(as[0], a, M, K, m0, 0);
    load_tile(bs[0], b, N, K, n0, 0);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) {
      load_tile(as[(t + 1) % 2], a, M, K, m0, (t + 1) * 16);
      load_tile(bs[(t + 1) % 2], b, N, K, n0, (t + 1) * 16);
      asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 1;" ::: "memory");  // all but the newest
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float av[4], bv[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        av[i] = as[t % 2][ty + i * 16][k];
        bv[i] = bs[t % 2][tx + i * 16][k];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += av[i] * bv[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int m = m0 + ty + i * 16, n = n0 + tx + j * 16;
      if (m < M && n < N) c[(size_t)m * N + n] = acc[i][j];
    }
}

void sgemm_nt(float* c, const float* a, const float* b, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  sgemm_kernel<<<dim3((N + 63) / 64, (M + 63) / 64), 256, 0, stream>>>(c, a, b, M, N, K);
}
