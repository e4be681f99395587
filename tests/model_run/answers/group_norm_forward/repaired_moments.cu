template <typename T, typename Index>
__device__ __forceinline__ Welford<T> strided_moments(const T* __restrict__ x, int first, int end, int stride,
                                                      Index index) {
  const int count = first < end ? (end - 1 - first) / stride + 1 : 0;
  if (count == 0) return {0, 0, 0};
  const T shift = x[index(first)], inv = T(1) / count;
  T mean = 0, m2 = shift * shift * T(0);  // NaN where a square overflows, as in the first step of Welford
#pragma unroll 4
  for (int i = first; i < end; i += stride) {
    const T d = x[index(i)] - shift;
    mean += d * inv;
    m2 += d * d;
  }
  if (!isinf(m2)) {
    m2 -= mean * mean * count;
    if (m2 < 0) m2 = 0;
  }
  return {shift + mean, m2, T(count)};
}
