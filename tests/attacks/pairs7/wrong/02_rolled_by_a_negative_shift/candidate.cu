#include <cuda_runtime.h>



// A block has a row and copies its two parts; there is one division, in the launcher.
__global__ void __launch_bounds__(256) roll_kernel(float* y, const float* x, int C, int shift) {
  const float* from = x + (size_t)blockIdx.x * C;
  float* to = y + (size_t)blockIdx.x * C;
  for (int c = threadIdx.x; c < C; c += 256) {
    int at = c - shift;
    to[c] = from[at < 0 ? at + C : at];
  }
}

void roll_rows(float* y, const float* x, int R, int C, int shift, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  unsigned turned = (unsigned)shift % (unsigned)C;
  roll_kernel<<<R, 256, 0, stream>>>(y, x, C, (int)turned);
}
