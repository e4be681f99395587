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

// The sum over the lanes of a warp, in each of them.
__device__ __forceinline__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

static bool is_aligned(const void* pointer, size_t bytes) {
  return reinterpret_cast<size_t>(pointer) % bytes == 0;
}

// sum[i0] = sum_{r0<C} inp[i0,r0]
// squares[i0] = sum_{r0<C} (inp[i0,r0] - 1 / C * sum[i0])^2
// out[i0,i1] = (inp[i0,i1] - 1 / C * sum[i0]) * weight[i1] * rsqrt(squares[i0] / C + 1e-5) + bias[i1]  for i0<N,
//     i1<C
// mean[i0] = sum[i0] / C  for i0<N
template <int kWidth>
__global__ void __launch_bounds__(256) layernorm_naive_rows(float* __restrict__ out,
    float* __restrict__ mean, float* __restrict__ rstd, const float* __restrict__ inp,
    const float* __restrict__ weight, const float* __restrict__ bias, int N, int C) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= N) return;
  float sum = 0.0f;
  for (int col = threadIdx.x * kWidth; col < C; col += 32 * kWidth) {
    const auto inp_pack = load_packed<kWidth>(inp + static_cast<long long>(row) * C + col);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      sum += inp_pack.at[k];
    }
  }
  sum = warp_sum(sum);
  float squares = 0.0f;
  const float row_mean = sum / C;
  for (int col = threadIdx.x * kWidth; col < C; col += 32 * kWidth) {
    const auto inp_pack = load_packed<kWidth>(inp + static_cast<long long>(row) * C + col);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      const float difference = inp_pack.at[k] - row_mean;
      squares += difference * difference;
    }
  }
  squares = warp_sum(squares);
  const float scale = rsqrtf(squares / C + 1e-05f);
  for (int col = threadIdx.x * kWidth; col < C; col += 32 * kWidth) {
    const auto inp_pack = load_packed<kWidth>(inp + static_cast<long long>(row) * C + col);
    const auto weight_pack = load_packed<kWidth>(weight + col);
    const auto bias_pack = load_packed<kWidth>(bias + col);
    Packed<float, kWidth> out_pack;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      out_pack.at[k] = (inp_pack.at[k] - row_mean) * scale * weight_pack.at[k] + bias_pack.at[k];
    }
    store_packed(out + static_cast<long long>(row) * C + col, out_pack);
  }
  if (threadIdx.x == 0) {
    mean[row] = row_mean;
    rstd[row] = scale;
  }
}

void layernorm_naive(float* out, float* mean, float* rstd, const float* inp, const float* weight, const float* bias, int N, int C) {
  if (is_aligned(inp, 16) && is_aligned(weight, 16) && is_aligned(bias, 16) && is_aligned(out, 16) && C % 4 == 0) {
    layernorm_naive_rows<4><<<(N + 7) / 8, dim3(32, 8)>>>(out, mean, rstd, inp, weight, bias, N, C);
  } else {
    layernorm_naive_rows<1><<<(N + 7) / 8, dim3(32, 8)>>>(out, mean, rstd, inp, weight, bias, N, C);
  }
}
