#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

// The first C of the C + rest columns of out, in f16. The rest is somebody else's.
__global__ void store_kernel(__half* out, const float* x, int R, int C, int rest) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (long long)R * C) return;
  out[i / C * (C + rest) + i % C] = __float2half(x[i]);
}

void store_columns(__half* out, const float* x, int R, int C, int rest, cudaStream_t stream) {
  if (R <= 0 || C <= 0 || rest < 0) return;
  store_kernel<<<(unsigned)(((long long)R * C + 255) / 256), 256, 0, stream>>>(out, x, R, C, rest);
}
