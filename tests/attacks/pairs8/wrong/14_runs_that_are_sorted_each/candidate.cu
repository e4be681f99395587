#include <cuda_runtime.h>

#include <cstdint>

// Keys often come sorted already, which costs one pass to see.
__global__ void __launch_bounds__(256) look_kernel(int* unsorted, const int* x, int n) {
  __shared__ int first[257];
  long long begin = (long long)blockIdx.x * 256, i = begin + threadIdx.x;
  first[threadIdx.x] = i < n ? x[i] : INT32_MAX;
  if (threadIdx.x == 0) first[256] = INT32_MAX;
  __syncthreads();
  int falls = first[threadIdx.x] > first[threadIdx.x + 1];
  if (__syncthreads_or(falls) && threadIdx.x == 0) atomicOr(unsorted, 1);
}

// The others count, against 256 keys at once from shared memory.
__global__ void __launch_bounds__(256) rank_kernel(int* y, const int* unsorted, const int* x, int n) {
  __shared__ int tile[256];
  long long i = (long long)blockIdx.x * 256 + threadIdx.x;
  int key = i < n ? x[i] : 0;
  if (*unsorted == 0) {
    if (i < n) y[i] = key;
    return;
  }
  int rank = 0;
  for (int begin = 0; begin < n; begin += 256) {
    __syncthreads();
    tile[threadIdx.x] = begin + (int)threadIdx.x < n ? x[begin + threadIdx.x] : INT32_MAX;
    __syncthreads();
    int most = n - begin < 256 ? n - begin : 256;
    // Equal keys before it count only in the tiles up to its own.
    int ties = i - begin < most ? (int)(i > begin ? i - begin : 0) : most;
    for (int j = 0; j < most; ++j) rank += tile[j] < key || (tile[j] == key && j < ties);
  }
  if (i < n) y[rank] = key;
}

void sort_keys(int* y, int* ws, const int* x, int n, cudaStream_t stream) {
  if (n <= 0) return;
  unsigned blocks = (unsigned)(((long long)n + 255) / 256);
  cudaMemsetAsync(ws, 0, sizeof(int), stream);
  look_kernel<<<blocks, 256, 0, stream>>>(ws, x, n);
  rank_kernel<<<blocks, 256, 0, stream>>>(y, ws, x, n);
}
