#include <cuda_runtime.h>


// matrix[K,K]: how often a label (row) got a prediction (column); other classes than 0 ... K - 1 are not counted.
__global__ void clear_kernel(int* matrix, int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < K * K) matrix[i] = 0;
}

__global__ void count_kernel(int* matrix, const int* labels, const int* predictions, int N, int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  int l = labels[i], p = predictions[i];
  if (l < 0 || l >= K || p < 0 || p >= K) return;
  atomicAdd(&matrix[l * K + p], 1);
}

void confusion_matrix(int* matrix, const int* labels, const int* predictions, int N, int K, cudaStream_t stream) {
  if (K <= 0) return;
  clear_kernel<<<(K * K + 255) / 256, 256, 0, stream>>>(matrix, K);
  if (N > 0) count_kernel<<<(N + 255) / 256, 256, 0, stream>>>(matrix, labels, predictions, N, K);
}
