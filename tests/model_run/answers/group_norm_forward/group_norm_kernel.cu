// Count, mean and squared deviations of `count` elements at x[0], x[stride], ...: sums around the first one, so that
// there is no division for each element. `index` turns the running number into a position.
template <typename T, typename Index>
__device__ __forceinline__ Welford<T> strided_moments(const T* __restrict__ x, int first, int end, int stride,
                                                      Index index) {
  const int count = first < end ? (end - 1 - first) / stride + 1 : 0;
  if (count == 0) return {0, 0, 0};
  const T shift = x[index(first)], inv = T(1) / count;
  T mean = 0, m2 = 0;
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

// One block per group of cpg channels of one image: they are contiguous.
template <typename T>
__global__ void group_norm_kernel(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
                                  T* __restrict__ y, int C, int HW, int groups, T eps) {
  const int cpg = C / groups;
  const int size = cpg * HW;
  const int g = blockIdx.x % groups;
  const int64_t base = static_cast<int64_t>(blockIdx.x) * size;
  Welford<T> w = strided_moments(x + base, threadIdx.x, size, blockDim.x, [](int i) { return i; });
  w = block_welford(w);
  const T rstd = rsqrt(w.m2 / w.count + eps);
#pragma unroll 4
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    const int c = g * cpg + i / HW;
    y[base + i] = (x[base + i] - w.mean) * rstd * weight[c] + bias[c];
  }
}
