#include <cuda_runtime.h>


// bins[256] of n bytes.
__global__ void clear_bins(unsigned* bins) { bins[threadIdx.x] = 0; }

__global__ void histogram_kernel(unsigned* bins, const unsigned char* x, int n) {
  __shared__ unsigned own[8][256];  // a copy for each warp
  for (int i = threadIdx.x; i < 8 * 256; i += 256) (&own[0][0])[i] = 0;
  __syncthreads();
  unsigned* mine = own[threadIdx.x / 32];
  int head = min((int)((16 - (size_t)x % 16) % 16), n);  // bytes before the first aligned vector
  int vectors = (n - head) / 16;
  const uint4* body = (const uint4*)(x + head);
  int stride = gridDim.x * 256, first = blockIdx.x * 256 + threadIdx.x;
  for (int i = first; i < vectors; i += stride) {
    uint4 v = body[i];
    unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int k = 0; k < 32; k += 8) atomicAdd(mine + (words[j] >> k & 255), 1u);
  }
  if (first < head) atomicAdd(mine + x[first], 1u);
  int tail = head + vectors * 16 + first;
  if (first < 16 && tail < n) atomicAdd(mine + x[tail], 1u);
  __syncthreads();
  unsigned sum = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) sum += own[w][threadIdx.x];
  if (sum) atomicAdd(bins + threadIdx.x, sum);
}

void byte_histogram(unsigned* bins, const unsigned char* x, int n, cudaStream_t stream) {
  clear_bins<<<1, 256, 0, stream>>>(bins);
  int blocks = n / 4096 + 1 < 264 ? n / 4096 + 1 : 264;
  histogram_kernel<<<blocks, 256, 0, stream>>>(bins, x, n);
}
