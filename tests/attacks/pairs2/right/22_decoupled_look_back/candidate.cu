#include <cuda_runtime.h>


// out[i] = x[0] + ... + x[i], modulo 2^32; work is workspace of n / 1024 + 2 words of 64 bits: word 0 counts blocks, the others are the
// blocks' states, value and flag in one word: 0 nothing yet, 1 the sum of the block, 2 the sum up to its end.
__global__ void __launch_bounds__(1024) scan_kernel(unsigned* out, const unsigned* x, unsigned long long* work, int n) {
  __shared__ unsigned warps[32];
  __shared__ unsigned block, before;
  if (threadIdx.x == 0) block = (unsigned)atomicAdd(work, 1ull);  // in the order in which blocks begin, so that those before it run
  __syncthreads();
  unsigned b = block;
  unsigned long long* state = work + 1;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int i = b * 1024 + threadIdx.x;
  unsigned v = i < n ? x[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    unsigned o = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += o;
  }
  if (lane == 31) warps[warp] = v;
  __syncthreads();
  if (warp == 0) {
    unsigned s = warps[lane];
    for (int d = 1; d < 32; d *= 2) {
      unsigned o = __shfl_up_sync(0xffffffffu, s, d);
      if (lane >= d) s += o;
    }
    warps[lane] = s;
  }
  __syncthreads();
  if (warp > 0) v += warps[warp - 1];
  if (threadIdx.x == 0) {
    unsigned own = warps[31], sum = 0;
    if (b > 0) {
      atomicExch(state + b, (1ull << 32) | own);
      for (int p = (int)b - 1; p >= 0;) {
        unsigned long long s = atomicAdd(state + p, 0ull);
        unsigned flag = (unsigned)(s >> 32);
        if (flag == 0) continue;
        sum += (unsigned)s;
        if (flag == 2) break;
        --p;
      }
    }
    __threadfence();
    atomicExch(state + b, (2ull << 32) | (unsigned)(sum + own));
    before = sum;
  }
  __syncthreads();
  if (i < n) out[i] = v + before;
}

void prefix_sum(unsigned* out, const unsigned* x, long long* work, int n, cudaStream_t stream) {
  int blocks = n / 1024 + (n % 1024 != 0);
  cudaMemsetAsync(work, 0, (blocks + 1) * sizeof(unsigned long long), stream);
  scan_kernel<<<blocks, 1024, 0, stream>>>(out, x, (unsigned long long*)work, n);
}
