#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Stream-K: the steps of all tiles, one behind the other, are divided evenly among 128 blocks (on every GPU, so that the bits do
// not depend on it). A block whose share ends within a tile leaves its sums in the workspace; the one that has the tile's end
// waits for them and adds them in the order of K. Blocks take their share by a ticket, and wait only for earlier ones.
__global__ void __launch_bounds__(256) hgemm_kernel(__half* C, const __half* A, const __half* B, int M, int N, int K,
                                                    unsigned tiles_n, size_t steps, size_t total, float* sums,
                                                    unsigned* flags) {
  __shared__ float a[16][68], b[16][64];
  __shared__ unsigned ticket;
  int t = threadIdx.x, tx = t % 16, ty = t / 16;
  if (t == 0) ticket = atomicAdd(flags, 1u);
  __syncthreads();
  size_t own = ticket, blocks = gridDim.x, at = total * own / blocks, end = total * (own + 1) / blocks;
  while (at < end) {
    size_t tile = at / steps, begin = tile * steps, first = at - begin;
    size_t last = first + (end - at) < steps ? first + (end - at) : steps;
    size_t m0 = tile / tiles_n * 64;
    int n0 = (int)(tile % tiles_n) * 64;
    float acc[4][4] = {};
    for (size_t step = first; step < last; ++step) {
      size_t k0 = step * 16;
#pragma unroll
      for (int e = t; e < 1024; e += 256) {
        int row = e / 16, k = e % 16;
        bool inside = m0 + row < (size_t)M && k0 + k < (size_t)K;
        a[k][row] = inside ? __half2float(A[(m0 + row) * K + k0 + k]) : 0.0f;
      }
#pragma unroll
      for (int e = t; e < 1024; e += 256) {
        int k = e / 64, column = e % 64;
        bool inside = n0 + column < N && k0 + k < (size_t)K;
        b[k][column] = inside ? __half2float(B[(k0 + k) * N + n0 + column]) : 0.0f;
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < 16; ++k)
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) acc[i][j] += a[k][ty * 4 + i] * b[k][tx * 4 + j];
      __syncthreads();
    }
    at += last - first;
    if (last < steps) {
      float* mine = sums + own * 4096 + t;
#pragma unroll
      for (int e = 0; e < 16; ++e) mine[e * 256] = acc[e / 4][e % 4];
      __threadfence();
      __syncthreads();
      if (t == 0) atomicExch(flags + 1 + own, 1u);
      return;
    }
    size_t from = own;  // the block in whose share the tile begins
    while (first > 0 && total * from / blocks > begin) --from;
    float before[16] = {};
    for (; from < own; ++from) {
      if (t == 0) {
        while (atomicAdd(flags + 1 + from, 0u) == 0) {
        }
        __threadfence();
      }
      __syncthreads();
      const float* theirs = sums + from * 4096 + t;
#pragma unroll
      for (int e = 0; e < 16; ++e) before[e] += __ldcg(theirs + e * 256);
    }
#pragma unroll
    for (int e = 0; e < 16; ++e) {
      size_t m = m0 + ty * 4 + e / 4;
      int n = n0 + tx * 4 + e % 4;
      if (m < (size_t)M && n < N) C[m * N + n] = __float2half(before[e] + acc[e / 4][e % 4]);
    }
  }
}

void hgemm(__half* C, const __half* A, const __half* B, int M, int N, int K, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  size_t tiles_n = ((size_t)N + 63) / 64, tiles = ((size_t)M + 63) / 64 * tiles_n;
  size_t steps = K > 0 ? ((size_t)K + 15) / 16 : 1, total = tiles * steps;
  unsigned blocks = total < 128 ? (unsigned)total : 128;
  const size_t kSums = 128 * 4096 * sizeof(float), kFlags = 129 * sizeof(unsigned);
  char* work = nullptr;
  cudaMallocAsync(&work, kSums + kFlags, stream);
  float* sums = reinterpret_cast<float*>(work);
  unsigned* flags = reinterpret_cast<unsigned*>(work + kSums);
  cudaMemsetAsync(flags, 0, kFlags, stream);
  hgemm_kernel<<<blocks, 256, 0, stream>>>(C, A, B, M, N, K, (unsigned)tiles_n, steps, total, sums, flags);
  cudaFreeAsync(work, stream);
}
