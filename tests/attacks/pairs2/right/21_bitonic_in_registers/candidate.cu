#include <cuda_runtime.h>


// Sorts rows of 32 integers, by rank.
__global__ void sort32_kernel(int* out, const int* x, int R) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= R * 32) return;
  int lane = threadIdx.x % 32;  // a warp is a row, so whole warps leave above
  int v = x[i];
#pragma unroll
  for (int size = 2; size <= 32; size *= 2)
#pragma unroll
    for (int d = size / 2; d > 0; d /= 2) {
      int o = __shfl_xor_sync(0xffffffffu, v, d);
      bool up = (lane & size) == 0, lower = (lane & d) == 0;
      v = up == lower ? min(v, o) : max(v, o);
    }
  out[i] = v;
}
