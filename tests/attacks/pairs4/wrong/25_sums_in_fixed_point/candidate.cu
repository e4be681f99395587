#include <cuda_runtime.h>


// Sums in fixed point, 32 bits behind the point: integer atomics are faster than those of doubles and give the same
// bits in any order. ws is used as S integers of 64 bits.
__global__ void add_kernel(unsigned long long* ws, const float* __restrict__ x, const int* __restrict__ segment, int N,
                           int S) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  int s = segment[i];
  if (s >= 0 && s < S) atomicAdd(&ws[s], (unsigned long long)__float2ll_rn(x[i] * 4294967296.0f));
}

__global__ void round_kernel(float* y, const unsigned long long* ws, int S) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s < S) y[s] = (float)((double)(long long)ws[s] * (1.0 / 4294967296.0));
}

void segment_sums(float* y, const float* x, const int* segment, double* ws, int N, int S, cudaStream_t stream) {
  if (S <= 0) return;
  unsigned long long* sums = (unsigned long long*)ws;
  cudaMemsetAsync(sums, 0, sizeof(unsigned long long) * S, stream);
  if (N > 0) add_kernel<<<(N + 127) / 128, 128, 0, stream>>>(sums, x, segment, N, S);
  round_kernel<<<(S + 127) / 128, 128, 0, stream>>>(y, sums, S);
}
