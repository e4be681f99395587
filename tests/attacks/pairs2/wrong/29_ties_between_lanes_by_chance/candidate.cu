#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// idx[r] = the first position of the largest value of the row; NaN are ignored (a row without any other gives 0).
__global__ void argmax_kernel(int* idx, const bf16* x, int C) {
  __shared__ float best[128];
  __shared__ int where[128];
  const bf16* row = x + (size_t)blockIdx.x * C;
  float m = -INFINITY;
  int at = C;
  for (int c = threadIdx.x; c < C; c += 128) {
    float v = __bfloat162float(row[c]);
    if (v > m || (v == m && c < at)) {
      m = v;
      at = c;
    }
  }
  for (int d = 16; d > 0; d >>= 1) {
    float v = __shfl_down_sync(0xffffffffu, m, d);
    int w = __shfl_down_sync(0xffffffffu, at, d);
    if (v > m) {  // on ties the lower lane stays: it has the lower index
      m = v;
      at = w;
    }
  }
  if (threadIdx.x % 32 == 0) {
    best[threadIdx.x / 32] = m;
    where[threadIdx.x / 32] = at;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 4; ++k)
      if (best[k] > best[0]) {
        best[0] = best[k];
        where[0] = where[k];
      }
    idx[blockIdx.x] = where[0] < C ? where[0] : 0;
  }
}

void argmax_bf16(int* idx, const bf16* x, int R, int C, cudaStream_t stream) { argmax_kernel<<<R, 128, 0, stream>>>(idx, x, C); }
