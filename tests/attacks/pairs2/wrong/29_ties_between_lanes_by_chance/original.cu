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
  best[threadIdx.x] = m;
  where[threadIdx.x] = at;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (threadIdx.x < k) {
      float v = best[threadIdx.x + k];
      int w = where[threadIdx.x + k];
      if (v > best[threadIdx.x] || (v == best[threadIdx.x] && w < where[threadIdx.x])) {
        best[threadIdx.x] = v;
        where[threadIdx.x] = w;
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) idx[blockIdx.x] = where[0] < C ? where[0] : 0;
}

void argmax_bf16(int* idx, const bf16* x, int R, int C, cudaStream_t stream) { argmax_kernel<<<R, 128, 0, stream>>>(idx, x, C); }
