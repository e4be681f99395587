// What the blocks that share a row have found; a launch reads nothing that it has not written.
static __device__ float entry_partials[262144];

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

// The sum over the threads of a block that stand before this one, and in `total` over all of them.
__device__ __forceinline__ float block_prefix_sum(float value, float& total) {
  __shared__ float of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int offset = 1; offset < 32; offset *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset) value = left + value;
  }
  __syncthreads();  // the results of a call before are still being read
  if (lane == 31) of_warp[warp] = value;
  __syncthreads();
  float before = 0.0f;
  total = 0.0f;
  for (int w = 0; w < blockDim.x / 32; ++w) {
    if (w == warp) before = total;
    total += of_warp[w];
  }
  const float left = __shfl_up_sync(0xffffffffu, value, 1);
  return lane == 0 ? before : before + left;
}

// The sum over every part of a row.
__global__ void __launch_bounds__(256) entry_totals(const float* __restrict__ x, int N, int parts) {
  constexpr int kItems = 4, kStep = 256 * kItems;
  const int part = blockIdx.x;
  // Of whole steps.
  const int length = ((N + kStep - 1) / kStep + parts - 1) / parts * kStep;
  const int begin = part * length, end = min(begin + length, N);
  float sum = 0.0f;
  for (int n = begin + threadIdx.x; n < end; n += blockDim.x) {
    sum += x[n];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) entry_partials[blockIdx.x] = sum;
}

// y[i0] = sum_{r0<N where r0 <= i0} x[r0]  for i0<N
//
// A block scans a part of a row, 1024 elements a step: 4 by each thread, then over the threads.
__global__ void __launch_bounds__(256) entry_scan(const float* __restrict__ x,
    float* __restrict__ y, int N, int parts) {
  constexpr int kItems = 4, kStep = 256 * kItems;
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
    float sums[kItems], sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int n = first + threadIdx.x * kItems + k;
      if (n < N) {
        sum += x[n];
      }
      sums[k] = sum;
    }
    float total;
    const float earlier = before + block_prefix_sum(sum, total);
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int n = first + threadIdx.x * kItems + k;
      if (n < N) {
        const float value = earlier + sums[k];
        y[n] = value;
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
entry_scan<<<parts, 256>>>(x, y, N, parts);
