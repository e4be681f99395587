// What the blocks that share a row have found; a launch reads nothing that it has not written.
static __device__ float entry_partials[262144];

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

// The sum over every part of a row.
__global__ void __launch_bounds__(256) entry_totals(const float* __restrict__ x, int N, int parts) {
  constexpr int kItems = 16, kStep = 256 * kItems;
  const int part = blockIdx.x;
  // Of whole steps.
  const int length = ((N + kStep - 1) / kStep + parts - 1) / parts * kStep;
  const int begin = part * length, end = min(begin + length, N);
  float sum = 0.0f;
#pragma unroll 8
  for (int n = begin + threadIdx.x; n < end; n += blockDim.x) {
    sum += x[n];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) entry_partials[blockIdx.x] = sum;
}

// y[i0] = sum_{r0<N where r0 <= i0} x[r0]  for i0<N
//
// A block scans a part of a row, 4096 elements a step. A warp takes those that lie side by side, 16 by
// each thread; then the warps add what those before them have.
template <int kWidth>
__global__ void __launch_bounds__(256) entry_scan(const float* __restrict__ x,
    float* __restrict__ y, int N, int parts) {
  constexpr int kItems = 16, kChunks = kItems / kWidth, kStep = 256 * kItems;
  const int part = blockIdx.x;
  // Of whole steps.
  const int length = ((N + kStep - 1) / kStep + parts - 1) / parts * kStep;
  const int begin = part * length, end = min(begin + length, N);
  float before = 0.0f;
  for (int p = threadIdx.x; p < part; p += blockDim.x) {
    before += entry_partials[p];
  }
  before = block_sum(before);
  for (int first = begin; first < end; first += kStep) {
    const int own = first + threadIdx.x / 32 * 32 * kItems + threadIdx.x % 32 * kWidth;
    float sums[kChunks][kWidth], of_thread[kChunks];
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const int item = own + chunk * 32 * kWidth;
      float sum = 0.0f;
      if (item < N) {
        const auto x_pack = load_packed<kWidth>(x + item);
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          const int n = item + k;
          sum += x_pack.at[k];
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
      if (item < N) {
        Packed<float, kWidth> y_new;
        const float start = earlier + of_thread[chunk];
#pragma unroll
        for (int k = 0; k < kWidth; ++k) {
          const int n = item + k;
          const float value = start + sums[chunk][k];
          y_new.at[k] = value;
        }
        store_packed(y + item, y_new);
      }
    }
    before += total;
  }
}

// Every part has at least 4096 elements, and there are no more than fill the chip.
int parts = (N + 4095) / 4096;
if (parts > 528) parts = 528;
if (parts < 1) parts = 1;
if (parts > 1) entry_totals<<<parts, 256>>>(x, N, parts);
if (is_aligned(x, 16) && is_aligned(y, 16) && N % 4 == 0) {
  entry_scan<4><<<parts, 256>>>(x, y, N, parts);
} else {
  entry_scan<1><<<parts, 256>>>(x, y, N, parts);
}
