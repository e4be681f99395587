#include <cuda_runtime.h>


// A warp for each row. A word has four bytes, which are added as two pairs of 16-bit halves: two additions instead of
// four with their conversions. A half has room for 258 bytes (258 * 254 = 65532), then it is emptied.
__global__ void __launch_bounds__(128) row_sums_kernel(unsigned* sum, const unsigned char* x, int R, int C) {
  size_t row = (size_t)blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= (size_t)R) return;
  int lane = threadIdx.x % 32;
  const unsigned char* p = x + row * C;
  int head = min(C, (int)(-(size_t)p & 3));
  unsigned total = lane < head ? p[lane] : 0;
  const unsigned* words = reinterpret_cast<const unsigned*>(p + head);
  int count = (C - head) / 4;
  for (int w = lane; w < count;) {
    unsigned even = 0, odd = 0;
    for (int k = 0; k < 258 && w < count; ++k, w += 32) {
      unsigned four = words[w];
      even += four & 0x00ff00ffu;
      odd += four >> 8 & 0x00ff00ffu;
    }
    total += (even & 0xffffu) + (even >> 16) + (odd & 0xffffu) + (odd >> 16);
  }
  int done = head + 4 * count;
  if (lane < C - done) total += p[done + lane];
  for (int o = 16; o > 0; o /= 2) total += __shfl_xor_sync(0xffffffffu, total, o);
  if (lane == 0) sum[row] = total;
}

void row_sums(unsigned* sum, const unsigned char* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  row_sums_kernel<<<(unsigned)(((size_t)R + 3) / 4), 128, 0, stream>>>(sum, x, R, C);
}
