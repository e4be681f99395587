#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y[r] = x[r] + skip[r] * g[r]: rows of C elements, one gate for each row. Callers pass slices of larger tensors.
__global__ void residual_kernel(__half* y, const __half* x, const __half* skip, const float* g, int C) {
  size_t base = (size_t)blockIdx.x * C;
  float f = g[blockIdx.x];
  for (int c = threadIdx.x; c < C; c += blockDim.x)
    y[base + c] = __float2half(__half2float(x[base + c]) + __half2float(skip[base + c]) * f);
}

void residual_f16(__half* y, const __half* x, const __half* skip, const float* g, int R, int C, cudaStream_t stream) {
  residual_kernel<<<R, 64, 0, stream>>>(y, x, skip, g, C);
}
