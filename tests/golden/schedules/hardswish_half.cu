#include <cuda_fp16.h>

// kWidth neighbours, which one access moves.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Packed {
  T at[kWidth];
};
template <int kWidth, typename T>
__device__ __forceinline__ Packed<T, kWidth> load_packed(const T* from) {
  return *reinterpret_cast<const Packed<T, kWidth>*>(from);
}

template <typename T, int kWidth>
__device__ __forceinline__ void store_packed(T* to, const Packed<T, kWidth>& values) {
  *reinterpret_cast<Packed<T, kWidth>*>(to) = values;
}

static bool is_aligned(const void* pointer, size_t bytes) {
  return reinterpret_cast<size_t>(pointer) % bytes == 0;
}

// dst[i0] = min(1, max(0.1666667 * x[i0] + 0.5, 0)) * x[i0]  for i0<k
template <int kWidth>
__global__ void ggt_hardswish_f16_elements(const __half* __restrict__ x,
    __half* __restrict__ dst, int k) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * kWidth;
  if (i >= k) return;
  const auto x_pack = load_packed<kWidth>(x + i);
  Packed<__half, kWidth> dst_new;
#pragma unroll
  for (int item = 0; item < kWidth; ++item) {
    const float x_value = __half2float(x_pack.at[item]);
    dst_new.at[item] = __float2half(fminf(1.0f, fmaxf(0.1666667f * x_value + 0.5f, 0.0f)) * x_value);
  }
  store_packed(dst + i, dst_new);
}

void ggt_hardswish_f16(const __half* x, __half* dst, int k) {
  if (is_aligned(x, 16) && is_aligned(dst, 16) && k % 8 == 0) {
    ggt_hardswish_f16_elements<8><<<(k / 8 + 255) / 256, 256>>>(x, dst, k);
  } else {
    ggt_hardswish_f16_elements<1><<<(k + 255) / 256, 256>>>(x, dst, k);
  }
}
