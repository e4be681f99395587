#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// Writes the transpose of x[M,N], times scale, into the first M columns of y, whose N rows have ld >= M elements each.
__global__ void transpose_kernel(bf16* y, const float* x, int M, int N, int ld, float scale) {
  int m = blockIdx.x * blockDim.x + threadIdx.x, n = blockIdx.y;
  if (m < M) y[(size_t)n * ld + m] = __float2bfloat16(x[(size_t)m * N + n] * scale);
}

void transpose_into(bf16* y, const float* x, int M, int N, int ld, float scale, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return;
  transpose_kernel<<<dim3((M + 127) / 128, N), 128, 0, stream>>>(y, x, M, N, ld, scale);
}
