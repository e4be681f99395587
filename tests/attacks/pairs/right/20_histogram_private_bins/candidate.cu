#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Counts of each byte value among n bytes; counts (256) is cleared first. Each block counts in two private copies, four bytes per
// access where the data is aligned.
constexpr int COPIES = 2;

__global__ void __launch_bounds__(256) histogram_kernel(unsigned* counts, const unsigned char* data, int n, int words) {
  __shared__ unsigned bins[COPIES][256];
  for (int c = 0; c < COPIES; ++c) bins[c][threadIdx.x] = 0;
  __syncthreads();
  unsigned* mine = bins[threadIdx.x / 32 % COPIES];
  long long stride = (long long)gridDim.x * 256, first = (long long)blockIdx.x * 256 + threadIdx.x;
  for (long long i = first; i < words; i += stride) {
    unsigned v = reinterpret_cast<const unsigned*>(data)[i];
#pragma unroll
    for (int b = 0; b < 32; b += 8) atomicAdd(&mine[v >> b & 255u], 1u);
  }
  for (long long i = 4LL * words + first; i < n; i += stride) atomicAdd(&mine[data[i]], 1u);
  __syncthreads();
  unsigned sum = 0;
  for (int c = 0; c < COPIES; ++c) sum += bins[c][threadIdx.x];
  if (sum) atomicAdd(&counts[threadIdx.x], sum);
}

void histogram(unsigned* counts, const unsigned char* data, int n) {
  cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned));
  if (n <= 0) return;
  int words = (size_t)data % 4 == 0 ? n / 4 : 0;
  int blocks = n / 4096 + 1;
  histogram_kernel<<<blocks < 264 ? blocks : 264, 256>>>(counts, data, n, words);
}
