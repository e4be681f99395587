#include <cuda_runtime.h>


// The K largest of every row of x[R,C] by falling value, equal values by rising column, with their columns. Inputs are
// not NaN. Returns cudaErrorInvalidValue, and writes nothing, unless 1 <= K <= C.
__global__ void topk_kernel(float* values, int* columns, const float* x, int R, int C, int K) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* row = x + (size_t)r * C;
  for (int k = 0; k < K; ++k) {
    int best = -1;
    for (int c = 0; c < C; ++c) {
      bool taken = false;
      for (int j = 0; j < k; ++j) taken = taken || columns[(size_t)r * K + j] == c;
      if (!taken && (best < 0 || row[c] > row[best])) best = c;
    }
    values[(size_t)r * K + k] = row[best];
    columns[(size_t)r * K + k] = best;
  }
}

cudaError_t topk_rows(float* values, int* columns, const float* x, int R, int C, int K, cudaStream_t stream) {
  if (K < 1 || K > C) return cudaErrorInvalidValue;
  if (R <= 0) return cudaSuccess;
  topk_kernel<<<(R + 63) / 64, 64, 0, stream>>>(values, columns, x, R, C, K);
  return cudaGetLastError();
}
