#include <cuda_runtime.h>


__global__ void count_global(int* matrix, const int* __restrict__ labels, const int* __restrict__ predictions, int N,
                             int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  int l = labels[i], p = predictions[i];
  if (l < 0 || l >= K || p < 0 || p >= K) return;
  atomicAdd(&matrix[l * K + p], 1);
}

// A copy of the matrix per block in shared memory.
__global__ void __launch_bounds__(256)
    count_shared(int* matrix, const int* __restrict__ labels, const int* __restrict__ predictions, int N, int K) {
  extern __shared__ int local[];
  for (int i = threadIdx.x; i < K * K; i += 256) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) {
    unsigned l = labels[i], p = predictions[i];
    if (l < (unsigned)K && p < (unsigned)K) atomicAdd(&local[l * K + p], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < K * K; i += 256)
    if (local[i] != 0) atomicAdd(&matrix[i], local[i]);
}

void confusion_matrix(int* matrix, const int* labels, const int* predictions, int N, int K, cudaStream_t stream) {
  if (K <= 0) return;
  cudaMemsetAsync(matrix, 0, sizeof(int) * K * K);
  if (N <= 0) return;
  if (K <= 96) {
    int blocks = (N + 1023) / 1024;
    if (blocks > 264) blocks = 264;
    count_shared<<<blocks, 256, sizeof(int) * K * K, stream>>>(matrix, labels, predictions, N, K);
  } else {
    count_global<<<(N + 255) / 256, 256, 0, stream>>>(matrix, labels, predictions, N, K);
  }
}
