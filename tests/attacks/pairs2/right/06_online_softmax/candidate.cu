#include <cuda_runtime.h>


// Softmax of rows; maximum and sum in one pass.
struct State {
  float top, sum;
};

__device__ __forceinline__ void add(State& s, float x) {
  if (x > s.top) {
    s.sum = s.sum * expf(s.top - x) + expf(x - x);  // an infinite x makes the sum a NaN, as it should
    s.top = x;
  } else if (!(x == -INFINITY && s.top == -INFINITY)) {
    s.sum += expf(x - s.top);
  }
}

__device__ __forceinline__ void merge(State& a, float top, float sum) {
  float m = fmaxf(a.top, top);
  float left = a.top == m ? a.sum : a.sum * expf(a.top - m);
  float right = top == m ? sum : sum * expf(top - m);
  a.top = m;
  a.sum = left + right;
}

__global__ void softmax_kernel(float* out, const float* inp, int C) {
  __shared__ float tops[8], sums[8];
  const float* x = inp + (size_t)blockIdx.x * C;
  float* y = out + (size_t)blockIdx.x * C;
  State s{-INFINITY, 0.0f};
  for (int c = threadIdx.x; c < C; c += 256) add(s, x[c]);
  for (int d = 16; d > 0; d >>= 1) merge(s, __shfl_xor_sync(0xffffffffu, s.top, d), __shfl_xor_sync(0xffffffffu, s.sum, d));
  if (threadIdx.x % 32 == 0) {
    tops[threadIdx.x / 32] = s.top;
    sums[threadIdx.x / 32] = s.sum;
  }
  __syncthreads();
  s.top = tops[0];
  s.sum = sums[0];
  for (int w = 1; w < 8; ++w) merge(s, tops[w], sums[w]);
  for (int c = threadIdx.x; c < C; c += 256) y[c] = expf(x[c] - s.top) / s.sum;
}

void softmax(float* out, const float* inp, int N, int C, cudaStream_t stream) {
  softmax_kernel<<<N, 256, 0, stream>>>(out, inp, C);
}
