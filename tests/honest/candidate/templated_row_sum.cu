// A template for the known lengths, a loop for all others, and a workspace that is left unchanged.
#include <cuda_runtime.h>

constexpr int kParts = 4;

template <int kLength>
__global__ void part_kernel(float* parts, const float* x, int C) {
  const int length = kLength > 0 ? kLength : C, row = blockIdx.x, lane = threadIdx.x;
  const int share = (length + kParts - 1) / kParts, begin = blockIdx.y * share, end = min(length, begin + share);
  float sum = 0.0f;
#pragma unroll 4
  for (int i = begin + lane; i < end; i += 32) sum += x[(size_t)row * length + i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane == 0) parts[row * kParts + blockIdx.y] = sum;
}
__global__ void join_kernel(float* out, const float* parts, int N) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N) return;
  float sum = 0.0f;
  for (int i = 0; i < kParts; ++i) sum += parts[row * kParts + i];
  out[row] = sum;
}

void row_sum(float* out, const float* x, int N, int C) {
  static float* parts = nullptr;
  static int rows = 0;
  if (rows < N) {
    cudaFree(parts);
    cudaMalloc(&parts, (size_t)N * kParts * sizeof(float));
    rows = N;
  }
  const dim3 grid(N, kParts);
  if (C == 700)
    part_kernel<700><<<grid, 32>>>(parts, x, C);
  else if (C == 512)
    part_kernel<512><<<grid, 32>>>(parts, x, C);
  else
    part_kernel<0><<<grid, 32>>>(parts, x, C);
  join_kernel<<<(N + 127) / 128, 128>>>(out, parts, N);
}
