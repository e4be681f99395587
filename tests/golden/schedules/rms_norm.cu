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

// The sum over the threads of a block, in each of them; the block has whole warps.
__device__ __forceinline__ float block_sum(float value) {
  __shared__ float of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_sum(value);
  __syncthreads();  // the results of a call before are still being read
  if (lane == 0) {
    of_warp[warp] = value;
  }
  __syncthreads();
  value = lane < blockDim.x / 32 ? of_warp[lane] : 0.0f;
  return warp_sum(value);
}

static bool is_aligned(const void* pointer, size_t bytes) {
  return reinterpret_cast<size_t>(pointer) % bytes == 0;
}

// sum[i0] = sum_{r0<ncols} x[i0,r0]^2
// dst[i0,i1] = rsqrt(sum[i0] / ncols + eps) * x[i0,i1] * w[i1]  for i0<nrows, i1<ncols
template <int kWidth>
__global__ void __launch_bounds__(256) rmsnorm_naive_rows(const float* __restrict__ x,
    const float* __restrict__ w, float* __restrict__ dst, int ncols, int nrows, float eps) {
  const int row = blockIdx.x;
  float sum = 0.0f;
  for (int col = threadIdx.x * kWidth; col < ncols; col += blockDim.x * kWidth) {
    const auto x_pack = load_packed<kWidth>(x + static_cast<long long>(row) * ncols + col);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      sum += x_pack.at[k] * x_pack.at[k];
    }
  }
  sum = block_sum(sum);
  const float scale = rsqrtf(sum / ncols + eps);
  for (int col = threadIdx.x * kWidth; col < ncols; col += blockDim.x * kWidth) {
    const auto x_pack = load_packed<kWidth>(x + static_cast<long long>(row) * ncols + col);
    const auto w_pack = load_packed<kWidth>(w + col);
    Packed<float, kWidth> dst_pack;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      dst_pack.at[k] = scale * x_pack.at[k] * w_pack.at[k];
    }
    store_packed(dst + static_cast<long long>(row) * ncols + col, dst_pack);
  }
}

void rmsnorm_naive(const float* x, const float* w, float* dst, int ncols, int nrows, float eps) {
  if (is_aligned(x, 16) && is_aligned(w, 16) && is_aligned(dst, 16) && ncols % 4 == 0) {
    rmsnorm_naive_rows<4><<<nrows, 256>>>(x, w, dst, ncols, nrows, eps);
  } else {
    rmsnorm_naive_rows<1><<<nrows, 256>>>(x, w, dst, ncols, nrows, eps);
  }
}
