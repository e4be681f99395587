#include <cuda_fp16.h>
#include <cuda_runtime.h>


// The row is read once and stays in shared memory as floats, of which a block has 12000 beside its partial results.
constexpr int capacity = 12000;

__global__ void __launch_bounds__(256) softmax_kernel(__half* y, const __half* x, int C, int kept) {
  extern __shared__ float row[];
  __shared__ float part[8];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  size_t base = (size_t)blockIdx.x * C;
  float top = __int_as_float(0xff800000);
  for (int c = t; c < C; c += 256) {
    float v = __half2float(x[base + c]);
    if (c < kept) row[c] = v;
    top = fmaxf(top, v);
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
  if (lane == 0) part[warp] = top;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < 8; ++w) top = fmaxf(top, part[w]);
  __syncthreads();
  float sum = 0.0f;
  for (int c = t; c < kept; c += 256) {
    float e = expf(row[c] - top);
    row[c] = e;
    sum += e;
  }
#pragma unroll
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  sum = 0.0f;
#pragma unroll
  for (int w = 0; w < 8; ++w) sum += part[w];
  for (int c = t; c < C; c += 256)
    y[base + c] = __float2half((c < kept ? row[c] : expf(__half2float(x[base + c]) - top)) / sum);
}

void softmax_rows(__half* y, const __half* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  int kept = C < capacity ? C : capacity;
  softmax_kernel<<<R, 256, kept * sizeof(float), stream>>>(y, x, C, kept);
}
