#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// idx[r] = the first c with x[r,c] >= limit, or C. x is only read: other streams may read it at the same time.
__global__ void first_above_kernel(int* idx, const bf16* x, float limit, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  // A sentinel at the end of the row saves the test of the bound.
  bf16* row = const_cast<bf16*>(x) + (size_t)r * C;
  bf16 last = row[C - 1];
  row[C - 1] = __float2bfloat16(INFINITY);
  int c = 0;
  while (!(__bfloat162float(row[c]) >= limit)) ++c;
  row[C - 1] = last;
  idx[r] = c == C - 1 && !(__bfloat162float(last) >= limit) ? C : c;
}

void first_above(int* idx, const bf16* x, float limit, int R, int C, cudaStream_t stream) {
  first_above_kernel<<<(R + 63) / 64, 64, 0, stream>>>(idx, x, limit, R, C);
}
