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

// sum = sum_{r0<n} (pred[r0] - target[r0])^2
template <int kWidth>
__global__ void __launch_bounds__(256) mse_naive_parts(const float* __restrict__ pred,
    const float* __restrict__ target, int n, float* __restrict__ partial) {
  float sum = 0.0f;
  for (int col = (blockIdx.y * blockDim.x + threadIdx.x) * kWidth; col < n;
      col += gridDim.y * blockDim.x * kWidth) {
    const auto pred_pack = load_packed<kWidth>(pred + col);
    const auto target_pack = load_packed<kWidth>(target + col);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      const float difference = pred_pack.at[k] - target_pack.at[k];
      sum += difference * difference;
    }
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    partial[blockIdx.y] = sum;
  }
}

// loss[i0] = sum / n  for i0<1
__global__ void __launch_bounds__(256) mse_naive_finish(float* __restrict__ loss, int n,
    const float* __restrict__ partial, int parts) {
  float sum = 0.0f;
  for (int part = threadIdx.x; part < parts; part += blockDim.x) {
    sum += partial[part];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    loss[0] = sum / n;
  }
}

void mse_naive(const float* pred, const float* target, float* partial, float* loss, int n) {
  // Every block has at least 4096 terms, and there are no more than fill the chip.
  int parts = (n + 4095) / 4096;
  if (parts > 528) parts = 528;
  if (parts > (n + 255) / 256) parts = (n + 255) / 256;
  if (parts < 1) parts = 1;
  if (is_aligned(pred, 16) && is_aligned(target, 16) && n % 4 == 0) {
    mse_naive_parts<4><<<dim3(1, parts), 256>>>(pred, target, n, partial);
  } else {
    mse_naive_parts<1><<<dim3(1, parts), 256>>>(pred, target, n, partial);
  }
  mse_naive_finish<<<1, 256>>>(loss, n, partial, parts);
}
