#include <cuda_runtime.h>


constexpr int kPiece = 2048;  // columns

__device__ __forceinline__ float block_max(float v, float* part) {
  for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[threadIdx.x % 8];
  for (int o = 4; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
  __syncthreads();
  return v;
}
__device__ __forceinline__ float block_sum(float v, float* part) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[threadIdx.x % 8];
  for (int o = 4; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  __syncthreads();
  return v;
}

// A short row: one block, its values in registers.
__global__ void __launch_bounds__(256) softmax_short(float* y, const float* x, int C) {
  __shared__ float part[8];
  const float* in = x + (size_t)blockIdx.x * C;
  float* out = y + (size_t)blockIdx.x * C;
  float v[kPiece / 256], top = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kPiece / 256; ++k) {
    int c = threadIdx.x + k * 256;
    v[k] = c < C ? in[c] : -INFINITY;
    top = fmaxf(top, v[k]);
  }
  top = block_max(top, part);
#pragma unroll
  for (int k = 0; k < kPiece / 256; ++k) {
    v[k] = expf(v[k] - top);
    sum += threadIdx.x + k * 256 < C ? v[k] : 0.0f;
  }
  sum = block_sum(sum, part);
#pragma unroll
  for (int k = 0; k < kPiece / 256; ++k)
    if (threadIdx.x + k * 256 < C) out[threadIdx.x + k * 256] = v[k] / sum;
}

// A long one: of each piece the largest value and the sum of exponentials below it. Of a piece of nothing but -infinity (and NaN)
// the exponentials themselves, which are 0 (and NaN) below any maximum.
__global__ void __launch_bounds__(256) pieces_kernel(float2* pieces, const float* x, int C, unsigned count) {
  __shared__ float part[8];
  unsigned row = blockIdx.x / count, piece = blockIdx.x % count;
  const float* in = x + (size_t)row * C;
  int first = (int)piece * kPiece, length = min(kPiece, C - first);
  float top = -INFINITY, sum = 0.0f;
  for (int c = threadIdx.x; c < length; c += 256) top = fmaxf(top, in[first + c]);
  top = block_max(top, part);
  float below = top == -INFINITY ? 0.0f : top;
  for (int c = threadIdx.x; c < length; c += 256) sum += expf(in[first + c] - below);
  sum = block_sum(sum, part);
  if (threadIdx.x == 0) pieces[blockIdx.x] = make_float2(top, sum);
}

// All pieces of a row combine these in the same way.
__global__ void __launch_bounds__(256)
    divide_kernel(float* y, const float2* pieces, const float* x, int C, unsigned count) {
  __shared__ float part[8];
  unsigned row = blockIdx.x / count, piece = blockIdx.x % count;
  const float2* own = pieces + (size_t)row * count;
  float top = -INFINITY, sum = 0.0f;
  for (unsigned p = threadIdx.x; p < count; p += 256) top = fmaxf(top, own[p].x);
  top = block_max(top, part);
  for (unsigned p = threadIdx.x; p < count; p += 256) sum += own[p].y * (own[p].x == -INFINITY ? 1.0f : expf(own[p].x - top));
  sum = block_sum(sum, part);
  size_t at = (size_t)row * C + (size_t)piece * kPiece;
  int length = min(kPiece, C - (int)piece * kPiece);
  for (int c = threadIdx.x; c < length; c += 256) y[at + c] = expf(x[at + c] - top) / sum;
}

void softmax_rows(float* y, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0 || C <= 0) return;
  if (C <= kPiece) {
    softmax_short<<<R, 256, 0, stream>>>(y, x, C);
    return;
  }
  unsigned count = (unsigned)(C / kPiece + (C % kPiece != 0)), blocks = (unsigned)R * count;
  float2* pieces = nullptr;
  cudaMallocAsync(&pieces, (size_t)R * count * sizeof(float2), stream);
  pieces_kernel<<<blocks, 256, 0, stream>>>(pieces, x, C, count);
  divide_kernel<<<blocks, 256, 0, stream>>>(y, pieces, x, C, count);
  cudaFreeAsync(pieces, stream);
}
