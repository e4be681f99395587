#include <cuda_runtime.h>


// sum[r] = x[r,0] + ... + x[r,C-1] of an image of bytes.
__global__ void row_sums_kernel(unsigned* sum, const unsigned char* x, int C) {
  __shared__ unsigned part[256];
  const unsigned char* row = x + (size_t)blockIdx.x * C;
  unsigned s = 0;
  for (int c = threadIdx.x; c < C; c += 256) s += row[c];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) sum[blockIdx.x] = part[0];
}

void row_sums(unsigned* sum, const unsigned char* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  row_sums_kernel<<<R, 256, 0, stream>>>(sum, x, C);
}
