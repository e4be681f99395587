// kWidth neighbours, which one access moves.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Packed {
  T at[kWidth];
};
template <int kWidth, typename T>
__device__ __forceinline__ Packed<T, kWidth> load_packed(const T* from) {
  return *reinterpret_cast<const Packed<T, kWidth>*>(from);
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

// dot[i0] = sum_{r0<dim} a[i0,r0] * b[i0,r0]
// a_squares[i0] = sum_{r0<dim} a[i0,r0]^2
// b_squares[i0] = sum_{r0<dim} b[i0,r0]^2
// out[i0] = 1 - dot[i0] / max(eps, sqrt(a_squares[i0]) * sqrt(b_squares[i0]))  for i0<n
template <int kWidth>
__global__ void __launch_bounds__(256) cosine_embedding_loss_rows(const float* __restrict__ a,
    const float* __restrict__ b, float* __restrict__ out, int n, int dim, float eps) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= n) return;
  float dot = 0.0f;
  float a_squares = 0.0f;
  float b_squares = 0.0f;
  for (int col = threadIdx.x * kWidth; col < dim; col += 32 * kWidth) {
    const auto a_pack = load_packed<kWidth>(a + static_cast<long long>(row) * dim + col);
    const auto b_pack = load_packed<kWidth>(b + static_cast<long long>(row) * dim + col);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      dot += a_pack.at[k] * b_pack.at[k];
      a_squares += a_pack.at[k] * a_pack.at[k];
      b_squares += b_pack.at[k] * b_pack.at[k];
    }
  }
  dot = warp_sum(dot);
  a_squares = warp_sum(a_squares);
  b_squares = warp_sum(b_squares);
  if (threadIdx.x == 0) {
    out[row] = 1.0f - dot / fmaxf(eps, sqrtf(a_squares) * sqrtf(b_squares));
  }
}

void cosine_embedding_loss(const float* a, const float* b, float* out, int n, int dim, float eps) {
  if (is_aligned(a, 16) && is_aligned(b, 16) && dim % 4 == 0) {
    cosine_embedding_loss_rows<4><<<(n + 7) / 8, dim3(32, 8)>>>(a, b, out, n, dim, eps);
  } else {
    cosine_embedding_loss_rows<1><<<(n + 7) / 8, dim3(32, 8)>>>(a, b, out, n, dim, eps);
  }
}
