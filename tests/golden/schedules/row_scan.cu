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

// t0[i0,i1] = sum_{r0<C where r0 <= i1} x[i0,r0]^2
// x'[i0,i1] = t0[i0,i1] + x[i0,i1]  for i0<N, i1<C
//
// A block scans all of a row, 1024 elements a step: 4 by each thread, then over the threads.
__global__ void __launch_bounds__(256) entry_scan(float* x, int C, int N) {
  constexpr int kItems = 4, kStep = 256 * kItems;
  const int n = blockIdx.x;
  float before = 0.0f;
  for (int first = 0; first < C; first += kStep) {
    float sums[kItems], sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int c = first + threadIdx.x * kItems + k;
      if (c < C) {
        const float x_value = x[static_cast<long long>(n) * C + c];
        sum += x_value * x_value;
      }
      sums[k] = sum;
    }
    float total;
    const float earlier = before + block_prefix_sum(sum, total);
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int c = first + threadIdx.x * kItems + k;
      if (c < C) {
        const float value = earlier + sums[k];
        x[static_cast<long long>(n) * C + c] = value + x[static_cast<long long>(n) * C + c];
      }
    }
    before += total;
  }
}

entry_scan<<<N, 256>>>(x, C, N);
