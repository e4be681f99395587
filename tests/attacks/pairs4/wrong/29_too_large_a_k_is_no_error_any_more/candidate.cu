#include <cuda_runtime.h>


__device__ __forceinline__ bool before(float a, int ca, float b, int cb) {
  return cb < 0 || (ca >= 0 && (a > b || (a == b && ca < cb)));
}

// A warp has a row. In every round the lanes look for the best that comes behind the winner of the round before, so
// that no list of taken columns is needed.
__global__ void __launch_bounds__(128)
    topk_kernel(float* values, int* columns, const float* __restrict__ x, int R, int C, int K) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  const float* row = x + (size_t)r * C;
  float last = 0.0f;
  int last_column = -1;
  for (int k = 0; k < K; ++k) {
    float best = 0.0f;
    int column = -1;
    for (int c = lane; c < C; c += 32) {
      float v = row[c];
      bool open = k == 0 || v < last || (v == last && c > last_column);
      if (open && before(v, c, best, column)) {
        best = v;
        column = c;
      }
    }
#pragma unroll
    for (int o = 16; o > 0; o /= 2) {
      float v = __shfl_xor_sync(0xffffffffu, best, o);
      int c = __shfl_xor_sync(0xffffffffu, column, o);
      if (c >= 0 && before(v, c, best, column)) {
        best = v;
        column = c;
      }
    }
    if (lane == 0) {
      values[(size_t)r * K + k] = best;
      columns[(size_t)r * K + k] = column;
    }
    last = best;
    last_column = column;
  }
}

cudaError_t topk_rows(float* values, int* columns, const float* x, int R, int C, int K, cudaStream_t stream) {
  if (R <= 0 || K <= 0) return cudaSuccess;
  topk_kernel<<<(R + 3) / 4, 128, 0, stream>>>(values, columns, x, R, C, K);
  return cudaGetLastError();
}
