// Pieces of 512 columns: sums of the pieces, scan of the sums, then the pieces; the workspace is stream-ordered. In place it stays right, since a piece only reads itself.
#include <cuda_runtime.h>
constexpr int kPiece = 512;
__device__ __forceinline__ float warp_scan(float v) {
  for (int d = 1; d < 32; d <<= 1) {
    float u = __shfl_up_sync(~0u, v, d);
    if (threadIdx.x % 32 >= d) v += u;
  }
  return v;
}
__global__ void sums(float* work, const float* inp, int C, int pieces) {
  int from = blockIdx.x * kPiece, to = min(C, from + kPiece);
  float s = 0.0f;
  for (int i = from + threadIdx.x; i < to; i += 32) s += inp[(size_t)blockIdx.y * C + i];
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x == 0) work[(size_t)blockIdx.y * pieces + blockIdx.x] = s;
}
__global__ void scan(float* out, const float* inp, const float* work, int C, int pieces) {
  int from = blockIdx.x * kPiece, to = min(C, from + kPiece);
  float carry = 0.0f;
  for (int p = 0; p < (int)blockIdx.x; ++p) carry += work[(size_t)blockIdx.y * pieces + p];
  for (int i0 = from; i0 < to; i0 += 32) {
    int i = i0 + threadIdx.x;
    float v = warp_scan(i < to ? inp[(size_t)blockIdx.y * C + i] : 0.0f) + carry;
    if (i < to) out[(size_t)blockIdx.y * C + i] = v;
    carry = __shfl_sync(~0u, v, 31);
  }
}
void row_cumsum(float* out, const float* inp, int N, int C) {
  if (N <= 0 || C <= 0) return;
  int pieces = (C + kPiece - 1) / kPiece;
  for (int r = 0; r < N; r += 65535) {
    int rows = N - r < 65535 ? N - r : 65535;
    size_t at = (size_t)r * C;
    float* work = nullptr;
    cudaMallocAsync((void**)&work, sizeof(float) * (size_t)rows * pieces, 0);
    sums<<<dim3(pieces, rows), 32>>>(work, inp + at, C, pieces);
    scan<<<dim3(pieces, rows), 32>>>(out + at, inp + at, work, C, pieces);
    cudaFreeAsync(work, 0);
  }
}
