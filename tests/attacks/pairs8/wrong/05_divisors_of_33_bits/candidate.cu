#include <cuda_runtime.h>

#include <cstdint>

// A division costs about twenty instructions. The width is the same for all: multiply by its reciprocal in fixed point, rounded up, and shift
// (Granlund and Montgomery).
struct Divider {
  uint32_t magic, shift;
};

static Divider MakeDivider(uint32_t width) {
  uint32_t shift = 31 - (uint32_t)__builtin_clz(width);
  if ((width & (width - 1)) == 0) return {0, shift};
  uint64_t magic = ((1ull << (32 + shift)) + width - 1) / width;
  return {(uint32_t)magic, shift};
}

__device__ __forceinline__ uint32_t Divide(uint32_t x, Divider by) { return (by.magic != 0 ? __umulhi(x, by.magic) : x) >> by.shift; }

template <bool kFours>
__global__ void __launch_bounds__(256) bucket_kernel(uint32_t* bucket, const uint32_t* time, int n, Divider by) {
  if (kFours) {
    long long i = ((long long)blockIdx.x * 256 + threadIdx.x) * 4;
    if (i >= n) return;
    uint4 v = *reinterpret_cast<const uint4*>(time + i);
    v.x = Divide(v.x, by), v.y = Divide(v.y, by), v.z = Divide(v.z, by), v.w = Divide(v.w, by);
    *reinterpret_cast<uint4*>(bucket + i) = v;
  } else {
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i < n) bucket[i] = Divide(time[i], by);
  }
}

void bucket_times(uint32_t* bucket, const uint32_t* time, int n, uint32_t width, cudaStream_t stream) {
  if (n <= 0 || width == 0) return;
  Divider by = MakeDivider(width);
  if (n % 4 == 0 && ((size_t)bucket | (size_t)time) % 16 == 0)
    bucket_kernel<true><<<(unsigned)(((long long)n / 4 + 255) / 256), 256, 0, stream>>>(bucket, time, n, by);
  else
    bucket_kernel<false><<<(unsigned)(((long long)n + 255) / 256), 256, 0, stream>>>(bucket, time, n, by);
}
