#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Writes the transpose of x[M,N], times scale, into the first M columns of y, whose N rows have ld elements each.
// Tiles of 32 x 32 in shared memory; reads and writes are coalesced. Tiles are complete: what is behind M is zero.
__global__ void __launch_bounds__(256)
    transpose_kernel(bf16* y, const float* __restrict__ x, int M, int N, int ld, float scale) {
  __shared__ float tile[32][33];
  int m0 = blockIdx.x * 32, n0 = blockIdx.y * 32;
  int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
#pragma unroll
  for (int j = ty; j < 32; j += 8) {
    int m = m0 + j, n = n0 + tx;
    tile[j][tx] = m < M && n < N ? x[(size_t)m * N + n] * scale : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (int j = ty; j < 32; j += 8) {
    int m = m0 + tx, n = n0 + j;
    if (m < ld && n < N) y[(size_t)n * ld + m] = __float2bfloat16(tile[tx][j]);
  }
}

void transpose_into(bf16* y, const float* x, int M, int N, int ld, float scale, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  transpose_kernel<<<dim3((M + 31) / 32, (N + 31) / 32), 256, 0, stream>>>(y, x, M, N, ld, scale);
}
