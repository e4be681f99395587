#include <cuda_runtime.h>


// Accelerations of N bodies (without the constant of gravitation): a[i] = sum of m[j] * (p[j] - p[i]) / |p[j] - p[i]|^3
// over all j at another place; p and a are [N,3].
__global__ void accelerations_kernel(double* a, const double* p, const double* m, int N) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  double ax = 0.0, ay = 0.0, az = 0.0;
  for (int j = 0; j < N; ++j) {
    double dx = p[3 * j] - p[3 * i], dy = p[3 * j + 1] - p[3 * i + 1], dz = p[3 * j + 2] - p[3 * i + 2];
    double r2 = dx * dx + dy * dy + dz * dz;
    if (r2 == 0.0) continue;
    double inv = 1.0 / sqrt(r2);
    double f = m[j] * inv * inv * inv;
    ax += f * dx;
    ay += f * dy;
    az += f * dz;
  }
  a[3 * i] = ax;
  a[3 * i + 1] = ay;
  a[3 * i + 2] = az;
}

void accelerations(double* a, const double* p, const double* m, int N, cudaStream_t stream) {
  if (N <= 0) return;
  accelerations_kernel<<<(N + 63) / 64, 64, 0, stream>>>(a, p, m, N);
}
