#include <cuda_runtime.h>



// Four at a time where rows are aligned. A thread keeps the vector that has its largest value, 16 bits of its number, and its place in it.
struct Found {
  float value;
  unsigned short vector;
  unsigned char lane;
};

__device__ __forceinline__ void look(Found& best, float value, int vector, int lane) {
  if (value > best.value) best = {value, (unsigned short)vector, (unsigned char)lane};
}

__device__ __forceinline__ void merge(float& value, int& place, float other, int there) {
  if (other > value || (other == value && there < place)) value = other, place = there;
}

template <bool kInFours>
__global__ void __launch_bounds__(256) argmax_kernel(int* at, const float* x, int C) {
  __shared__ float values[8];
  __shared__ int places[8];
  const float* row = x + (size_t)blockIdx.x * C;
  int t = threadIdx.x, place = 0;
  float value = -INFINITY;
  if (kInFours) {
    Found best = {-INFINITY, 0, 0};
    const float4* vectors = reinterpret_cast<const float4*>(row);
    for (int q = t; q < C / 4; q += 256) {
      float4 v = vectors[q];
      look(best, v.x, q, 0), look(best, v.y, q, 1), look(best, v.z, q, 2), look(best, v.w, q, 3);
    }
    value = best.value, place = best.vector * 4 + best.lane;
  } else {
    for (int c = t; c < C; c += 256)
      if (row[c] > value) value = row[c], place = c;
  }
  for (int d = 16; d > 0; d /= 2)
    merge(value, place, __shfl_xor_sync(~0u, value, d), __shfl_xor_sync(~0u, place, d));
  if (t % 32 == 0) values[t / 32] = value, places[t / 32] = place;
  __syncthreads();
  if (t > 0) return;
  for (int w = 1; w < 8; ++w) merge(value, place, values[w], places[w]);
  at[blockIdx.x] = place;
}

void argmax_rows(int* at, const float* x, int R, int C, cudaStream_t stream) {
  if (R <= 0) return;
  if (C % 4 == 0 && (size_t)x % 16 == 0) argmax_kernel<true><<<R, 256, 0, stream>>>(at, x, C);
  else argmax_kernel<false><<<R, 256, 0, stream>>>(at, x, C);
}
