#include <cuda_runtime.h>


// mean[r] = the mean of the first length[r] values of row r (0 of none; lengths outside of 0 ... C are cut off there).
__global__ void means_kernel(float* mean, const float* x, const int* length, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  int n = min(max(length[r], 0), C);
  float s = 0.0f;
  for (int c = 0; c < n; ++c) s += x[(size_t)r * C + c];
  mean[r] = n > 0 ? s / n : 0.0f;
}

void ragged_means(float* mean, const float* x, const int* length, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  means_kernel<<<(unsigned)(((size_t)R + 127) / 128), 128, 0, stream>>>(mean, x, length, R, C);
}
