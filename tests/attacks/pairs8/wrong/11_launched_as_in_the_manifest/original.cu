#include <cuda_runtime.h>

#include <cstdint>

// y = g x / rms(x) of each row. Callers choose the grid and the block: any grid (rows are taken in turns) and any block of whole warps.
__global__ void layer_scale_norm(float* y, const float* x, const float* g, int R, int C, float eps) {
  __shared__ float warps[32];
  for (long long r = blockIdx.x; r < R; r += gridDim.x) {
    const float* from = x + r * C;
    float sum = 0;
    for (int c = threadIdx.x; c < C; c += blockDim.x) sum += from[c] * from[c];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) sum += warps[w];
    float scale = 1.f / sqrtf(sum / C + eps);
    for (int c = threadIdx.x; c < C; c += blockDim.x) y[r * C + c] = g[c] * from[c] * scale;
    __syncthreads();
  }
}
