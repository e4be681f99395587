#include <cuda_runtime.h>


// Tiles of 64 x 64, 16 deep, with 4 x 4 results for each thread. Where there are few tiles the sum over K is divided: the parts
// of a tile add to C one after the other, in the order of K, so that the result has the same bits in every run. Blocks take
// their part by a ticket: whoever waits, waits for blocks that have begun before.
__global__ void __launch_bounds__(256) gemm_kernel(float* C, const float* A, const float* B, int M, int N, int K,
                                                   unsigned tiles_n, unsigned parts, int share, unsigned* work) {
  __shared__ float a[16][68], b[16][64];
  __shared__ unsigned ticket;
  int t = threadIdx.x, tx = t % 16, ty = t / 16;
  unsigned number = blockIdx.x;
  if (parts > 1) {
    if (t == 0) ticket = atomicAdd(work, 1u);
    __syncthreads();
    number = ticket;
  }
  unsigned tile = number / parts, part = number % parts;
  size_t m0 = (size_t)(tile / tiles_n) * 64;
  int n0 = (int)(tile % tiles_n) * 64;
  int first = (int)part * share, last = share < K - first ? first + share : K;
  int steps = (last - first) / 16 + ((last - first) % 16 != 0);
  float acc[4][4] = {};
  for (int s = 0; s < steps; ++s) {
    int k0 = first + s * 16;
#pragma unroll
    for (int e = t; e < 1024; e += 256) {
      int row = e / 16, k = e % 16;
      a[k][row] = m0 + row < (size_t)M && k < last - k0 ? A[(m0 + row) * K + k0 + k] : 0.0f;
    }
#pragma unroll
    for (int e = t; e < 1024; e += 256) {
      int k = e / 64, column = e % 64;
      b[k][column] = n0 + column < N && k < last - k0 ? B[(size_t)(k0 + k) * N + n0 + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float u[4], v[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        u[i] = a[k][ty * 4 + i];
        v[i] = b[k][tx * 4 + i];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += u[i] * v[j];
    }
    __syncthreads();
  }
  unsigned* turn = work + 1 + tile;
  if (part > 0) {
    if (t == 0) {
      while (atomicAdd(turn, 0u) != part) {
      }
      __threadfence();
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      size_t m = m0 + ty * 4 + i;
      int n = n0 + tx * 4 + j;
      if (m >= (size_t)M || n >= N) continue;
      float* c = C + m * N + n;
      *c = part > 0 ? __ldcg(c) + acc[i][j] : acc[i][j];
    }
  if (parts > 1) {
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(turn, part + 1);
  }
}

void gemm(float* C, const float* A, const float* B, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  size_t tiles_n = ((size_t)N + 63) / 64, tiles = ((size_t)M + 63) / 64 * tiles_n;
  int parts = K > 1024 && tiles < 264 ? (K > 8192 ? 8 : K / 1024) : 1;
  int share = (K / parts / 16 + 1) * 16;
  if (parts > 1) parts = K / share + (K % share != 0);
  if (parts == 1) share = K;
  unsigned* work = nullptr;
  size_t bytes = (tiles + 1) * sizeof(unsigned);
  if (parts > 1) {
    if (cudaMallocAsync(&work, bytes, stream) != cudaSuccess) {  // then as one part
      (void)cudaGetLastError();
      parts = 1;
      share = K;
    } else {
      cudaMemsetAsync(work, 0, bytes, stream);
    }
  }
  gemm_kernel<<<(unsigned)(tiles * parts), 256, 0, stream>>>(C, A, B, M, N, K, (unsigned)tiles_n, (unsigned)parts, share,
                                                             work);
  if (parts > 1) cudaFreeAsync(work, stream);
}
