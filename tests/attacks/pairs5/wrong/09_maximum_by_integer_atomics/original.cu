#include <cuda_runtime.h>


// out[d] = max over n of x[n,d]
__global__ void column_max_kernel(float* out, const float* x, int N, int D) {
  int d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d >= D) return;
  float m = -__int_as_float(0x7f800000);
  for (int n = 0; n < N; ++n) m = fmaxf(m, x[(size_t)n * D + d]);
  out[d] = m;
}

void column_max(float* out, const float* x, int N, int D, cudaStream_t stream) {
  if (D <= 0) return;
  column_max_kernel<<<(D + 127) / 128, 128, 0, stream>>>(out, x, N, D);
}
