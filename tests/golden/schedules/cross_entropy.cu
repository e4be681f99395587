// kWidth neighbours, which one access moves.
template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Packed {
  T at[kWidth];
};
template <int kWidth, typename T>
__device__ __forceinline__ Packed<T, kWidth> load_packed(const T* from) {
  return *reinterpret_cast<const Packed<T, kWidth>*>(from);
}

// The max over the lanes of a warp, in each of them.
__device__ __forceinline__ float warp_max(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  return value;
}

// The max over the threads of a block, in each of them; the block has whole warps.
__device__ __forceinline__ float block_max(float value) {
  __shared__ float of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_max(value);
  __syncthreads();  // the results of a call before are still being read
  if (lane == 0) {
    of_warp[warp] = value;
  }
  __syncthreads();
  value = lane < blockDim.x / 32 ? of_warp[lane] : -INFINITY;
  return warp_max(value);
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

// largest[i0] = max_{r0<classes} logits[i0,r0]
// sum[i0] = sum_{r0<classes} exp(logits[i0,r0] - largest[i0])
// losses[i0] = largest[i0] - logits[i0,labels[i0]] + log(sum[i0])  for i0<rows
template <int kWidth>
__global__ void __launch_bounds__(1024) cross_entropy_naive_rows(const float* __restrict__ logits,
    const int* __restrict__ labels, float* __restrict__ losses, int rows, int classes) {
  const int row = blockIdx.x;
  float largest = -INFINITY;
  for (int col = threadIdx.x * kWidth; col < classes; col += blockDim.x * kWidth) {
    const auto logits_pack = load_packed<kWidth>(logits + static_cast<long long>(row) * classes + col);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      largest = fmaxf(largest, logits_pack.at[k]);
    }
  }
  largest = block_max(largest);
  float sum = 0.0f;
  for (int col = threadIdx.x * kWidth; col < classes; col += blockDim.x * kWidth) {
    const auto logits_pack = load_packed<kWidth>(logits + static_cast<long long>(row) * classes + col);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      sum += expf(logits_pack.at[k] - largest);
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    losses[row] = largest + logf(sum) - logits[static_cast<long long>(row) * classes + labels[row]];
  }
}

void cross_entropy_naive(const float* logits, const int* labels, float* losses, int rows, int classes) {
  if (is_aligned(logits, 16) && classes % 4 == 0) {
    cross_entropy_naive_rows<4><<<rows, 1024>>>(logits, labels, losses, rows, classes);
  } else {
    cross_entropy_naive_rows<1><<<rows, 1024>>>(logits, labels, losses, rows, classes);
  }
}
