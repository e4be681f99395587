#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// index[R]: the first column that holds the largest value of a row of x[R,C]. NaN is passed over; 0 where nothing is
// larger than -inf.
__global__ void argmax_kernel(int* index, const bf16* x, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float best = __int_as_float(0xff800000);
  int at = 0;
  for (int c = 0; c < C; ++c) {
    float v = __bfloat162float(x[(size_t)r * C + c]);
    if (v > best) {
      best = v;
      at = c;
    }
  }
  index[r] = at;
}

void argmax_rows(int* index, const bf16* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  argmax_kernel<<<(R + 63) / 64, 64, 0, stream>>>(index, x, R, C);
}
