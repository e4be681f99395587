static __device__ __forceinline__ float WarpSum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

// A warp per sample.
__global__ void CosineKernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, int n, int dim,
                             float eps) {
  const int row = blockIdx.x * (LOSS_THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  const float* x = a + (size_t)row * dim;
  const float* y = b + (size_t)row * dim;
  float xy = 0, xx = 0, yy = 0;
  if (dim % 4 == 0 && ((size_t)a | (size_t)b) % 16 == 0) {
#pragma unroll 4
    for (int d = lane; d < dim / 4; d += 32) {
      const float4 p = reinterpret_cast<const float4*>(x)[d], q = reinterpret_cast<const float4*>(y)[d];
      xy += p.x * q.x + p.y * q.y + (p.z * q.z + p.w * q.w);
      xx += p.x * p.x + p.y * p.y + (p.z * p.z + p.w * p.w);
      yy += q.x * q.x + q.y * q.y + (q.z * q.z + q.w * q.w);
    }
  } else {
    for (int d = lane; d < dim; d += 32) {
      xy += x[d] * y[d];
      xx += x[d] * x[d];
      yy += y[d] * y[d];
    }
  }
  xy = WarpSum(xy);
  xx = WarpSum(xx);
  yy = WarpSum(yy);
  if (lane == 0) out[row] = 1.f - xy / fmaxf(sqrtf(xx) * sqrtf(yy), eps);
}
