#include <cuda_runtime.h>


// out[C] = sums of the columns of x[R,C].
__global__ void column_sum_kernel(float* out, const float* x, int R, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float s = 0.0f;
  for (int r = 0; r < R; ++r) s += x[(size_t)r * C + c];
  out[c] = s;
}

void column_sum(float* out, const float* x, int R, int C, cudaStream_t stream) {
  column_sum_kernel<<<(C + 127) / 128, 128, 0, stream>>>(out, x, R, C);
}
