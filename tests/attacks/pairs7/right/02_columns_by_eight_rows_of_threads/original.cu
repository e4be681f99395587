#include <cuda_runtime.h>



// y[c] = log of the sum of exp(x[r,c]) over r.
__global__ void columns_kernel(float* y, const float* x, int R, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float most = -INFINITY, sum = 0.0f;
  for (int r = 0; r < R; ++r) most = fmaxf(most, x[(size_t)r * C + c]);
  for (int r = 0; r < R; ++r) sum += expf(x[(size_t)r * C + c] - most);
  y[c] = most + logf(sum);
}

void column_logsumexp(float* y, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  columns_kernel<<<(unsigned)(((size_t)C + 127) / 128), 128, 0, stream>>>(y, x, R, C);
}
