// inclusive scan of rows: shuffles within warps, then the totals of the warps
__global__ void scan_rows_kernel(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float totals[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float carry = 0.f;
  for (int start = 0; start < n; start += blockDim.x) {
    const int i = start + threadIdx.x;
    float v = i < n ? x[blockIdx.x * n + i] : 0.f;
#pragma unroll
    for (int o = 1; o < 32; o *= 2) {
      const float before = __shfl_up_sync(0xffffffffu, v, o);
      if (lane >= o) v += before;
    }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    if (warp == 0) {
      float t = lane < warps ? totals[lane] : 0.f;
#pragma unroll
      for (int o = 1; o < 32; o *= 2) {
        const float before = __shfl_up_sync(0xffffffffu, t, o);
        if (lane >= o) t += before;
      }
      totals[lane] = t;
    }
    __syncthreads();
    if (warp > 0) v += totals[warp - 1];
    if (start > 0) v += carry;
    if (i < n) y[blockIdx.x * n + i] = v;
    carry = (start > 0 ? carry : 0.f) + totals[31];
    if (start + blockDim.x < n) __syncthreads();
  }
}
