#include <cuda_runtime.h>


// A block per row, which is copied to shared memory, if it fits; what was taken is set to
// -infinity there.
__global__ void __launch_bounds__(128)
    topk_kernel(float* value, int* index, const float* __restrict__ x, int C, int K) {
  extern __shared__ float row[];
  __shared__ float values[4];
  __shared__ int indices[4];
  const float nothing = -__int_as_float(0x7f800000);
  int t = threadIdx.x;
  for (int c = t; c < C; c += 128) row[c] = x[(size_t)blockIdx.x * C + c];
  __syncthreads();
  for (int k = 0; k < K; ++k) {
    float best = nothing;
    int found = 0x7fffffff;
    for (int c = t; c < C; c += 128)
      if (row[c] > best) {
        best = row[c];
        found = c;
      }
    for (int o = 16; o > 0; o /= 2) {
      float v = __shfl_xor_sync(0xffffffffu, best, o);
      int i = __shfl_xor_sync(0xffffffffu, found, o);
      if (v > best || (v == best && i < found)) {
        best = v;
        found = i;
      }
    }
    if (t % 32 == 0) {
      values[t / 32] = best;
      indices[t / 32] = found;
    }
    __syncthreads();
    if (t == 0) {
      for (int w = 1; w < 4; ++w)
        if (values[w] > best || (values[w] == best && indices[w] < found)) {
          best = values[w];
          found = indices[w];
        }
      value[(size_t)blockIdx.x * K + k] = best;
      index[(size_t)blockIdx.x * K + k] = found == 0x7fffffff ? -1 : found;
      if (found != 0x7fffffff) row[found] = nothing;
    }
    __syncthreads();
  }
}

// Rows that do not fit into shared memory: as before.
__global__ void topk_long(float* value, int* index, const float* x, int N, int C, int K) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  const float* row = x + (size_t)n * C;
  float last_value = __int_as_float(0x7f800000);
  int last_index = -1;
  bool more = true;
  for (int k = 0; k < K; ++k) {
    float best = -__int_as_float(0x7f800000);
    int found = -1;
    for (int c = 0; more && c < C; ++c) {
      float v = row[c];
      bool behind = v < last_value || (v == last_value && c > last_index);
      if (behind && (found < 0 || v > best)) {
        best = v;
        found = c;
      }
    }
    value[(size_t)n * K + k] = best;
    index[(size_t)n * K + k] = found;
    last_value = best;
    last_index = found;
    more = found >= 0;
  }
}

void topk(float* value, int* index, const float* x, int N, int C, int K, cudaStream_t stream) {
  if (N <= 0 || C <= 0 || K <= 0) return;
  if (C <= 11000)
    topk_kernel<<<N, 128, C * sizeof(float), stream>>>(value, index, x, C, K);
  else
    topk_long<<<(N + 63) / 64, 64, 0, stream>>>(value, index, x, N, C, K);
}
