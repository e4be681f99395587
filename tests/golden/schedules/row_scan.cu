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

// The sum over the lanes of a warp that stand before this one, and in `total` over all of them.
__device__ __forceinline__ float warp_prefix_sum(float value, float& total) {
  const int lane = threadIdx.x % 32;
  for (int offset = 1; offset < 32; offset *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset) value = left + value;
  }
  total = __shfl_sync(0xffffffffu, value, 31);
  const float before = __shfl_up_sync(0xffffffffu, value, 1);
  return lane == 0 ? 0.0f : before;
}

// The sum over the warps of a block that stand before this one, and in `total` over all of them.
__device__ __forceinline__ float warps_before_sum(float value, float& total) {
  __shared__ float of_warp[32];
  const int warp = threadIdx.x / 32;
  __syncthreads();  // the results of a call before are still being read
  if (threadIdx.x % 32 == 0) of_warp[warp] = value;
  __syncthreads();
  float before = 0.0f;
  total = 0.0f;
  for (int w = 0; w < blockDim.x / 32; ++w) {
    if (w == warp) before = total;
    total += of_warp[w];
  }
  return before;
}

static bool is_aligned(const void* pointer, size_t bytes) {
  return reinterpret_cast<size_t>(pointer) % bytes == 0;
}

// t0[i0,i1] = sum_{r0<C where r0 <= i1} x[i0,r0]^2
// x'[i0,i1] = t0[i0,i1] + x[i0,i1]  for i0<N, i1<C
//
// A block scans all of a row, 1024 elements a step. A warp takes those that lie side by side, 4 by
// each thread; then the warps add what those before them have.
template <int kWidth>
__global__ void __launch_bounds__(256) entry_scan(float* x, int C, int N) {
  constexpr int kItems = 4, kChunks = kItems / kWidth, kStep = 256 * kItems;
  const int n = blockIdx.x;
  float before = 0.0f;
  for (int first = 0; first < C; first += kStep) {
    const int own = first + threadIdx.x / 32 * 32 * kItems + threadIdx.x % 32 * kWidth;
    float sums[kChunks][kWidth], of_thread[kChunks];
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const int item = own + chunk * 32 * kWidth;
      float sum = 0.0f;
      if (item < C) {
        const auto x_pack = load_packed<kWidth>(x + static_cast<long long>(n) * C + item);
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          const int c = item + k;
          sum += x_pack.at[k] * x_pack.at[k];
          sums[chunk][k] = sum;
        }
      }
      of_thread[chunk] = sum;
    }
    float of_warp = 0.0f;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      float of_chunk;
      of_thread[chunk] = of_warp + warp_prefix_sum(of_thread[chunk], of_chunk);
      of_warp += of_chunk;
    }
    float total;
    const float earlier = before + warps_before_sum(of_warp, total);
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const int item = own + chunk * 32 * kWidth;
      if (item < C) {
        Packed<float, kWidth> x_new;
        const float start = earlier + of_thread[chunk];
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          const int c = item + k;
          const float value = start + sums[chunk][k];
          x_new.at[k] = value + x[static_cast<long long>(n) * C + c];
        }
        store_packed(x + static_cast<long long>(n) * C + item, x_new);
      }
    }
    before += total;
  }
}

if (is_aligned(x, 16) && C % 4 == 0) {
  entry_scan<4><<<N, 256>>>(x, C, N);
} else {
  entry_scan<1><<<N, 256>>>(x, C, N);
}
