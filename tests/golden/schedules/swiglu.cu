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

// dst[i0,i1] = x[i0,i1] * x[i0,i1+n] / (exp(-x[i0,i1]) + 1)  for i0<nrows, i1<n
template <int kWidth>
__global__ void ggt_swiglu_elements(const float* __restrict__ x, float* __restrict__ dst,
    long long nrows, long long n) {
  const long long index = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * kWidth;
  if (index >= nrows * n) return;
  const long long col = index % n;
  const long long row = index / n;
  const auto x_pack = load_packed<kWidth>(x + row * 2 * n + col);
  const auto x_values = load_packed<kWidth>(x + row * 2 * n + col + n);
  Packed<float, kWidth> dst_new;
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    dst_new.at[k] = x_pack.at[k] / (expf(-x_pack.at[k]) + 1.0f) * x_values.at[k];
  }
  store_packed(dst + index, dst_new);
}

void ggt_swiglu(const float* x, float* dst, long long nrows, long long n) {
  if (is_aligned(x, 16) && is_aligned(dst, 16) && n % 4 == 0) {
    ggt_swiglu_elements<4><<<(nrows * n / 4 + 255) / 256, 256>>>(x, dst, nrows, n);
  } else {
    ggt_swiglu_elements<1><<<(nrows * n + 255) / 256, 256>>>(x, dst, nrows, n);
  }
}
