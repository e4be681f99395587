#include <cuda_runtime.h>


// A block per row. Equal values: the smaller index wins.
__global__ void __launch_bounds__(256)
    greedy_token_kernel(int* token, float* best, const float* __restrict__ logits, int N, int C) {
  __shared__ float values[8];
  __shared__ int indices[8];
  const float* row = logits + (size_t)blockIdx.x * C;
  float value = -__int_as_float(0x7f800000);
  int index = 0x7fffffff;
  for (int c = threadIdx.x; c < C; c += 256) {
    float v = row[c];
    if (v > value) {
      value = v;
      index = c;
    }
  }
  for (int o = 16; o > 0; o /= 2) {
    float v = __shfl_down_sync(0xffffffffu, value, o);
    int i = __shfl_down_sync(0xffffffffu, index, o);
    if (v > value || (v == value && i < index)) {
      value = v;
      index = i;
    }
  }
  if (threadIdx.x % 32 == 0) {
    values[threadIdx.x / 32] = value;
    indices[threadIdx.x / 32] = index;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    // Warps are in order, so the first one wins.
    for (int w = 1; w < 8; ++w)
      if (values[w] > value) {
        value = values[w];
        index = indices[w];
      }
    token[blockIdx.x] = index == 0x7fffffff ? 0 : index;
    best[blockIdx.x] = value;
  }
}

void greedy_token(int* token, float* best, const float* logits, int N, int C, cudaStream_t stream) {
  if (N <= 0 || C <= 0) return;
  greedy_token_kernel<<<N, 256, 0, stream>>>(token, best, logits, N, C);
}
