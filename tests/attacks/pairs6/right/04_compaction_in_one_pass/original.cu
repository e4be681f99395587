#include <cuda_runtime.h>


// out = the values of x that are larger than `least`, in their order, then -1; count[0] says how many they are. offsets is workspace.
__global__ void count_kernel(int* offsets, const int* x, int n, int least) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i < (size_t)n && x[i] > least) atomicAdd(&found, 1);
  __syncthreads();
  if (threadIdx.x == 0) offsets[blockIdx.x] = found;
}

__global__ void scan_kernel(int* count, int* offsets, int blocks) {
  int sum = 0;
  for (int b = 0; b < blocks; ++b) {
    int own = offsets[b];
    offsets[b] = sum;
    sum += own;
  }
  *count = sum;
}

__global__ void scatter_kernel(int* out, const int* offsets, const int* x, int n, int least) {
  __shared__ int larger[256];
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  bool own = i < (size_t)n && x[i] > least;
  larger[threadIdx.x] = own;
  __syncthreads();
  int before = 0;
  for (int t = 0; t < threadIdx.x; ++t) before += larger[t];
  if (own) out[offsets[blockIdx.x] + before] = x[i];
}

__global__ void fill_kernel(int* out, const int* count, int n) {
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i < (size_t)n && i >= (size_t)*count) out[i] = -1;
}

void keep_larger(int* out, int* count, int* offsets, const int* x, int n, int least, cudaStream_t stream) {
  if (n <= 0) {
    cudaMemsetAsync(count, 0, sizeof(int), stream);
    return;
  }
  unsigned blocks = (unsigned)(((size_t)n + 255) / 256);
  count_kernel<<<blocks, 256, 0, stream>>>(offsets, x, n, least);
  scan_kernel<<<1, 1, 0, stream>>>(count, offsets, (int)blocks);
  scatter_kernel<<<blocks, 256, 0, stream>>>(out, offsets, x, n, least);
  fill_kernel<<<blocks, 256, 0, stream>>>(out, count, n);
}
