#include <cuda_runtime.h>



// By digits of eight bits, the highest first: those that agree so far are counted by their next one, and the digit within whose count k
// falls is the result's. With the sign turned, integers are ordered as unsigned numbers are.
__global__ void __launch_bounds__(256) kth_kernel(int* y, const int* x, int C, int k) {
  __shared__ int counts[256], before[8];
  __shared__ unsigned digit;
  __shared__ int rest;
  const int* row = x + (size_t)blockIdx.x * C;
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  unsigned known = 0;
  k = max(0, min(k, C - 1));
  for (int shift = 24; shift >= 0; shift -= 8) {
    counts[t] = 0;
    __syncthreads();
    for (int c = t; c < C; c += 256) {
      unsigned key = (unsigned)row[c] ^ 0x80000000u;
      if (((unsigned long long)(key ^ known) >> shift) < 256) atomicAdd(&counts[key >> shift & 255], 1);
    }
    __syncthreads();
    int mine = counts[t], sum = mine;
    for (int d = 1; d < 32; d *= 2) {
      int other = __shfl_up_sync(~0u, sum, d);
      if (lane >= d) sum += other;
    }
    if (lane == 31) before[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; ++w) sum += before[w];
    if (sum - mine <= k && k < sum) digit = (unsigned)t, rest = k - (sum - mine);
    __syncthreads();
    known |= digit << shift;
    k = rest;
  }
  if (t == 0) y[blockIdx.x] = (int)(known ^ 0x80000000u);
}

void kth_smallest(int* y, const int* x, int R, int C, int k, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  kth_kernel<<<R, 256, 0, stream>>>(y, x, C, k);
}
