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

// out[i0,i1,i2] = wpe[i1,i2] + wte[inp[i0,i1],i2]  for i0<B, i1<T, i2<C
template <int kWidth>
__global__ void encoder_forward_elements(float* __restrict__ out, const int* __restrict__ inp,
    const float* __restrict__ wte, const float* __restrict__ wpe, int B, int T, int C, int V) {
  const int index = (blockIdx.x * blockDim.x + threadIdx.x) * kWidth;
  if (index >= B * T * C) return;
  const int c = index % C;
  const int t = index / C % T;
  const int b = index / C / T;
  const auto wpe_pack = load_packed<kWidth>(wpe + static_cast<long long>(t) * C + c);
  Packed<float, kWidth> out_new;
  const auto wte_pack = load_packed<kWidth>(wte +
      static_cast<long long>(inp[static_cast<long long>(b) * T + t]) * C + c);
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    out_new.at[k] = wpe_pack.at[k] + wte_pack.at[k];
  }
  store_packed(out + index, out_new);
}

void encoder_forward(float* out, const int* inp, const float* wte, const float* wpe, int B, int T, int C, int V) {
  if (is_aligned(wpe, 16) && is_aligned(out, 16) && is_aligned(wte, 16) && C % 4 == 0) {
    encoder_forward_elements<4><<<(B * T * C / 4 + 255) / 256, 256>>>(out, inp, wte, wpe, B, T, C, V);
  } else {
    encoder_forward_elements<1><<<(B * T * C + 255) / 256, 256>>>(out, inp, wte, wpe, B, T, C, V);
  }
}
