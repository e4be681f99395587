#include <cuda_bf16.h>
#include <cuda_runtime.h>

typedef __nv_bfloat16 bf16;


// A value and its column in one number that compares as the pair does: the bits in the order of the values above, the
// column, inverted so that the first wins, below.
__device__ __forceinline__ unsigned long long packed(bf16 v, int c) {
  float f = __bfloat162float(v);
  if (!(f > __int_as_float(0xff800000))) return 0;
  unsigned bits = __bfloat16_as_ushort(v);
  bits = bits & 0x8000 ? ~bits & 0xffff : bits | 0x8000;
  return (unsigned long long)bits << 32 | (unsigned)~c;
}

__global__ void __launch_bounds__(128) argmax_kernel(int* index, const bf16* __restrict__ x, int C) {
  __shared__ unsigned long long part[4];
  const bf16* row = x + (size_t)blockIdx.x * C;
  unsigned long long best = 0;
  for (int c = threadIdx.x; c < C; c += 128) {
    unsigned long long p = packed(row[c], c);
    best = p > best ? p : best;
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) {
    unsigned long long p = __shfl_xor_sync(0xffffffffu, best, o);
    best = p > best ? p : best;
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < 4; ++w) best = part[w] > best ? part[w] : best;
  index[blockIdx.x] = best == 0 ? 0 : (int)~(unsigned)best;
}

void argmax_rows(int* index, const bf16* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  argmax_kernel<<<R, 128, 0, stream>>>(index, x, C);
}
