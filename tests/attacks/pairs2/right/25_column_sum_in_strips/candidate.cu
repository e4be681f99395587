#include <cuda_runtime.h>


// out[C] = sums of the columns of x[R,C].
__global__ void column_sum_kernel(float* out, const float* x, int R, int C) {
  __shared__ float part[16][33];
  int c = blockIdx.x * 32 + threadIdx.x;
  float s = 0.0f;
  if (c < C)
    for (int r = threadIdx.y; r < R; r += 16) s += x[(size_t)r * C + c];
  part[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
#pragma unroll
  for (int k = 8; k > 0; k >>= 1) {
    if (threadIdx.y < k) part[threadIdx.y][threadIdx.x] += part[threadIdx.y + k][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y == 0 && c < C) out[c] = part[0][threadIdx.x];
}

void column_sum(float* out, const float* x, int R, int C, cudaStream_t stream) {
  column_sum_kernel<<<(C + 31) / 32, dim3(32, 16), 0, stream>>>(out, x, R, C);
}
