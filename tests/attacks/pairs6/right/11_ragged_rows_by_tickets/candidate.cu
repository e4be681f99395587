#include <cuda_runtime.h>


__device__ unsigned next_row = 0, ended = 0;  // both 0 between calls

// Rows differ much in length: blocks that stay take the next row when they have ended one. The block that ends last, when all
// have taken a number behind the last row, puts the counter back.
__global__ void __launch_bounds__(128) means_kernel(float* mean, const float* x, const int* length, unsigned R, int C) {
  __shared__ float part[4];
  __shared__ unsigned row;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  while (true) {
    if (threadIdx.x == 0) row = atomicAdd(&next_row, 1u);
    __syncthreads();
    unsigned r = row;
    if (r >= R) break;
    int n = min(max(length[r], 0), C);
    const float* in = x + (size_t)r * C;
    float s = 0.0f;
    for (unsigned c = threadIdx.x; c < (unsigned)n; c += 128) s += in[c];
    for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (lane == 0) part[warp] = s;
    __syncthreads();  // also: all have read row
    if (threadIdx.x == 0) mean[r] = n > 0 ? (part[0] + part[1] + part[2] + part[3]) / n : 0.0f;
  }
  if (threadIdx.x == 0 && atomicInc(&ended, gridDim.x - 1) == gridDim.x - 1) atomicExch(&next_row, 0u);
}

void ragged_means(float* mean, const float* x, const int* length, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  means_kernel<<<R < 1024 ? R : 1024, 128, 0, stream>>>(mean, x, length, (unsigned)R, C);
}
