#include <cuda_runtime.h>

#include <cstdint>

// Each warp has counters of its own in shared memory. 16 bytes at once from the first address that is a multiple of 16; the ends one by one.
__device__ __forceinline__ void count_word(int* own, unsigned word) {
  unsigned a = word & 0xff, b = word >> 8 & 0xff, c = word >> 16 & 0xff, d = word >> 24;
  // Runs of one value are one addition.
  if (a == b && a == c && a == d) {
    atomicAdd(&own[a], 4);
    return;
  }
  atomicAdd(&own[a], 1);
  atomicAdd(&own[b], 1);
  atomicAdd(&own[c], 1);
  atomicAdd(&own[d], 1);
}

__global__ void __launch_bounds__(256) count_kernel(int* bins, const uint8_t* x, int n, int head, int units) {
  __shared__ int counters[8][256];
  for (int e = threadIdx.x; e < 8 * 256; e += 256) counters[e / 256][e % 256] = 0;
  __syncthreads();
  int* own = counters[threadIdx.x / 32];
  const uint4* from = reinterpret_cast<const uint4*>(x + head);
  long long stride = (long long)gridDim.x * 256;
  for (long long u = (long long)blockIdx.x * 256 + threadIdx.x; u < units; u += stride) {
    uint4 v = from[u];
    count_word(own, v.x), count_word(own, v.y), count_word(own, v.z), count_word(own, v.w);
  }
  if (blockIdx.x == 0) {
    for (int i = threadIdx.x; i < head; i += 256) atomicAdd(&own[x[i]], 1);
    for (long long i = head + 16LL * units + threadIdx.x; i < n; i += 256) atomicAdd(&own[x[i]], 1);
  }
  __syncthreads();
  int sum = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) sum += counters[w][threadIdx.x];
  if (sum != 0) atomicAdd(&bins[threadIdx.x], sum);
}

void count_bytes(int* bins, const uint8_t* x, int n, cudaStream_t stream) {
  cudaMemsetAsync(bins, 0, 256 * sizeof(int), stream);
  if (n <= 0) return;
  int head = (int)((16 - (size_t)x % 16) % 16);
  if (head > n) head = n;
  int units = (n - head) / 16;
  long long blocks = ((long long)units + 2047) / 2048;
  if (blocks < 1) blocks = 1;
  if (blocks > 1056) blocks = 1056;
  count_kernel<<<(unsigned)blocks, 256, 0, stream>>>(bins, x, n, head, units);
}
