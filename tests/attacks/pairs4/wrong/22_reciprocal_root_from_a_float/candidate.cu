#include <cuda_runtime.h>


// The reciprocal root from the float unit, made exact by three steps of Newton's method (22, 44, 53 bits): far cheaper
// than square root and division in double.
__device__ __forceinline__ double fast_rsqrt(double v) {
  double y = (double)rsqrtf((float)v);
  double h = 0.5 * v;
#pragma unroll
  for (int i = 0; i < 3; ++i) y = y * fma(-h * y, y, 1.5);
  return y;
}

// Bodies come in tiles of 64 through shared memory.
__global__ void __launch_bounds__(64)
    accelerations_kernel(double* a, const double* __restrict__ p, const double* __restrict__ m, int N) {
  __shared__ double px[64], py[64], pz[64], pm[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  double x = 0.0, y = 0.0, z = 0.0, ax = 0.0, ay = 0.0, az = 0.0;
  if (i < N) {
    x = p[3 * i];
    y = p[3 * i + 1];
    z = p[3 * i + 2];
  }
  for (int j0 = 0; j0 < N; j0 += 64) {
    int count = N - j0 < 64 ? N - j0 : 64;
    __syncthreads();
    if (t < count) {
      px[t] = p[3 * (j0 + t)];
      py[t] = p[3 * (j0 + t) + 1];
      pz[t] = p[3 * (j0 + t) + 2];
      pm[t] = m[j0 + t];
    }
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      double dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
      double r2 = dx * dx + dy * dy + dz * dz;
      if (r2 == 0.0) continue;
      double inv = fast_rsqrt(r2);
      double f = pm[j] * inv * inv * inv;
      ax += f * dx;
      ay += f * dy;
      az += f * dz;
    }
  }
  if (i >= N) return;
  a[3 * i] = ax;
  a[3 * i + 1] = ay;
  a[3 * i + 2] = az;
}

void accelerations(double* a, const double* p, const double* m, int N, cudaStream_t stream) {
  if (N <= 0) return;
  accelerations_kernel<<<(N + 63) / 64, 64, 0, stream>>>(a, p, m, N);
}
