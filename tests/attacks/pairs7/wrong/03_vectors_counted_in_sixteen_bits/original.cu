#include <cuda_runtime.h>



// The place of the largest value of each row, the first of equal ones; 0 where nothing is above -infinity. Rows of any length.
__global__ void argmax_kernel(int* at, const float* x, int C) {
  __shared__ float value[256];
  __shared__ int place[256];
  const float* row = x + (size_t)blockIdx.x * C;
  int t = threadIdx.x, index = 0;
  float best = -INFINITY;
  for (int c = t; c < C; c += 256)
    if (row[c] > best) best = row[c], index = c;
  value[t] = best;
  place[t] = index;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) {
      float other = value[t + half];
      int there = place[t + half];
      if (other > value[t] || (other == value[t] && there < place[t])) value[t] = other, place[t] = there;
    }
    __syncthreads();
  }
  if (t == 0) at[blockIdx.x] = place[0];
}

void argmax_rows(int* at, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  argmax_kernel<<<R, 256, 0, stream>>>(at, x, C);
}
