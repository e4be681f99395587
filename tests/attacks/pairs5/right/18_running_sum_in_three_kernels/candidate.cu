#include <cuda_runtime.h>


// Sum over the threads before this one, and over all of them. Nothing is subtracted, so that an infinity reaches only what comes after it.
template <int kWarps>
__device__ float block_exclusive(float v, float* warps, float& total) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float inclusive = v;
  for (int o = 1; o < 32; o *= 2) {
    float before = __shfl_up_sync(0xffffffffu, inclusive, o);
    if (lane >= o) inclusive += before;
  }
  float exclusive = __shfl_up_sync(0xffffffffu, inclusive, 1);
  if (lane == 0) exclusive = 0.0f;
  if (lane == 31) warps[warp] = inclusive;
  __syncthreads();
  float in_front = 0.0f, all = 0.0f;
  for (int w = 0; w < kWarps; ++w) {
    if (w == warp) in_front = all;
    all += warps[w];
  }
  __syncthreads();  // so that the next call may write
  total = all;
  return in_front + exclusive;
}

// Tiles of 1024 elements, four neighbours per thread.
__device__ void load_four(float (&v)[4], const float* x, size_t first, int n) {
#pragma unroll
  for (int j = 0; j < 4; ++j) v[j] = first + j < (size_t)n ? x[first + j] : 0.0f;
}

__global__ void __launch_bounds__(256) tile_sums(float* sums, const float* x, int n) {
  __shared__ float warps[8];
  float v[4], total;
  load_four(v, x, (size_t)blockIdx.x * 1024 + threadIdx.x * 4, n);
  block_exclusive<8>((v[0] + v[1]) + (v[2] + v[3]), warps, total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// One block takes 1024 sums at a time and carries the total on, however many there are.
__global__ void __launch_bounds__(1024) scan_sums(float* sums, int tiles) {
  __shared__ float warps[32];
  float carry = 0.0f;
  for (int first = 0; first < tiles; first += 1024) {
    int b = first + (int)threadIdx.x;
    float total, before = block_exclusive<32>(b < tiles ? sums[b] : 0.0f, warps, total);
    if (b < tiles) sums[b] = carry + before;
    carry += total;
  }
}

__global__ void __launch_bounds__(256) scan_tiles(float* y, const float* x, const float* sums, int n) {
  __shared__ float warps[8];
  size_t first = (size_t)blockIdx.x * 1024 + threadIdx.x * 4;
  float v[4], total;
  load_four(v, x, first, n);
  v[1] += v[0];
  v[2] += v[1];
  v[3] += v[2];
  float before = sums[blockIdx.x] + block_exclusive<8>(v[3], warps, total);
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (first + j < (size_t)n) y[first + j] = before + v[j];
}

// y[i] = x[0] + ... + x[i]; sums is memory to work in.
void cumsum(float* y, const float* x, float* sums, int n, cudaStream_t stream) {
  if (n <= 0) return;
  unsigned tiles = (unsigned)(((size_t)n + 1023) / 1024);
  tile_sums<<<tiles, 256, 0, stream>>>(sums, x, n);
  scan_sums<<<1, 1024, 0, stream>>>(sums, (int)tiles);
  scan_tiles<<<tiles, 256, 0, stream>>>(y, x, sums, n);
}
