#include <cuda_runtime.h>



// The length of each row of C elements. x may be a view: its last row ends with its last element.
__global__ void norms_kernel(float* norms, const float* x, int R, int C, int pitch) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c) sum += x[(size_t)r * pitch + c] * x[(size_t)r * pitch + c];
  norms[r] = sqrtf(sum);
}

void row_norms(float* norms, const float* x, int R, int C, int pitch, cudaStream_t stream) {
  if (R <= 0) return;
  norms_kernel<<<(unsigned)(((size_t)R + 127) / 128), 128, 0, stream>>>(norms, x, R, C, pitch);
}
