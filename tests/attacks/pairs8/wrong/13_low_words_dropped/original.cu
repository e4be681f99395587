#include <cuda_runtime.h>

#include <cstdint>

// The sum of x in twice the precision of f32, rounded once: also where large terms cancel.
struct Two {
  float high, low;
};
__device__ Two add(Two a, Two b) {  // Dekker and Knuth
  float s = __fadd_rn(a.high, b.high), t = __fsub_rn(s, a.high);
  float e = __fadd_rn(__fsub_rn(a.high, __fsub_rn(s, t)), __fsub_rn(b.high, t));
  e = __fadd_rn(e, __fadd_rn(a.low, b.low));
  float high = __fadd_rn(s, e);
  return {high, __fsub_rn(e, __fsub_rn(high, s))};
}
__device__ Two block_sum(Two mine) {
  __shared__ Two s[256];
  s[threadIdx.x] = mine;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] = add(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  return s[0];
}

__global__ void parts_kernel(Two* ws, const float* x, int n) {
  Two mine = {0, 0};
  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < n; i += 65536) mine = add(mine, {x[i], 0});
  mine = block_sum(mine);
  if (threadIdx.x == 0) ws[blockIdx.x] = mine;
}

__global__ void whole_kernel(float* sum, const Two* ws) {
  Two whole = block_sum(ws[threadIdx.x]);
  if (threadIdx.x == 0) *sum = whole.high;
}

void accurate_sum(float* sum, float* ws, const float* x, int n, cudaStream_t stream) {
  parts_kernel<<<256, 256, 0, stream>>>((Two*)ws, x, n);
  whole_kernel<<<1, 256, 0, stream>>>(sum, (const Two*)ws);
}
