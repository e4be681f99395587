#include <cuda_runtime.h>

#include <cstdint>

// Parts of 1024 by shuffles; their sums are scanned by one block of 1024 threads, a stretch after the other.
__device__ __forceinline__ unsigned warp_scan(unsigned v) {
  int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    unsigned o = __shfl_up_sync(~0u, v, d);
    v += lane >= d ? o : 0;
  }
  return v;
}

// Inclusive, and the sum of the block.
template <int kWarps>
__device__ __forceinline__ unsigned block_scan(unsigned v, unsigned& all) {
  __shared__ unsigned warps[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warp_scan(v);
  if (lane == 31) warps[warp] = v;
  __syncthreads();
  if (warp == 0) {
    unsigned w = warp_scan(lane < kWarps ? warps[lane] : 0);
    warps[lane] = w;
  }
  __syncthreads();
  unsigned before = warp == 0 ? 0 : warps[warp - 1];
  all = warps[kWarps - 1];
  __syncthreads();
  return v + before;
}

__global__ void __launch_bounds__(256) sums_kernel(int* ws, const int* x, int n) {
  long long first = (long long)blockIdx.x * 1024 + threadIdx.x;
  unsigned sum = 0, all;
#pragma unroll
  for (int j = 0; j < 4; ++j) sum += first + j * 256 < n ? x[first + j * 256] : 0;
  block_scan<8>(sum, all);
  if (threadIdx.x == 0) ws[blockIdx.x] = (int)all;
}

__global__ void __launch_bounds__(1024) parts_kernel(int* ws, int parts) {
  unsigned carry = 0;
  for (int first = 0; first < parts; first += 1024) {
    int p = first + threadIdx.x;
    unsigned own = p < parts ? ws[p] : 0, all;
    unsigned upto = block_scan<32>(own, all);
    if (p < parts) ws[p] = (int)(carry + upto - own);
    carry += all;
  }
}

__global__ void __launch_bounds__(256) scan_kernel(int* y, const int* ws, const int* x, int n) {
  long long first = (long long)blockIdx.x * 1024 + threadIdx.x * 4;
  unsigned v[4], sum = 0, all;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    v[j] = sum;
    sum += first + j < n ? x[first + j] : 0;
  }
  unsigned before = (unsigned)ws[blockIdx.x] + block_scan<8>(sum, all) - sum;
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (first + j < n) y[first + j] = (int)(before + v[j]);
  if (first < n && first + 4 >= n) y[n] = (int)(before + sum);
}

void exclusive_offsets(int* y, int* ws, const int* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  int parts = (int)(((long long)n + 1023) / 1024);
  sums_kernel<<<parts, 256, 0, stream>>>(ws, x, n);
  parts_kernel<<<1, 1024, 0, stream>>>(ws, parts);
  scan_kernel<<<parts, 256, 0, stream>>>(y, ws, x, n);
}
