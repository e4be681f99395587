#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// idx[r] = the first c with x[r,c] >= limit, or C. x is only read: other streams may read it at the same time.
__global__ void first_above_kernel(int* idx, const bf16* x, float limit, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const bf16* row = x + (size_t)r * C;
  int c = 0;
  while (c < C && !(__bfloat162float(row[c]) >= limit)) ++c;
  idx[r] = c;
}

void first_above(int* idx, const bf16* x, float limit, int R, int C, cudaStream_t stream) {
  first_above_kernel<<<(R + 63) / 64, 64, 0, stream>>>(idx, x, limit, R, C);
}
