/* Acoustic wave, fourth order in space, second in time. p is overwritten with the next time step. */
#include <cuda_runtime.h>

#define RADIUS 2
__constant__ float coef[RADIUS + 1];

__global__ void wave_kernel(float *p, const float *q, const float *vel, int nx, int ny)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x + RADIUS;
  int y = blockIdx.y * blockDim.y + threadIdx.y + RADIUS;
  if (x >= nx - RADIUS || y >= ny - RADIUS) return;
  int o = y * nx + x;
  float lap = 2.0f * coef[0] * q[o];
#pragma unroll
  for (int r = 1; r <= RADIUS; r++) lap += coef[r] * (q[o - r] + q[o + r] + q[o - r * nx] + q[o + r * nx]);
  p[o] = 2.0f * q[o] - p[o] + vel[o] * lap;
}

void wave_step(float *p, const float *q, const float *vel, int nx, int ny)
{
  static const float h[RADIUS + 1] = {-2.5f, 4.0f / 3.0f, -1.0f / 12.0f};
  cudaMemcpyToSymbol(coef, h, sizeof(h));
  dim3 b(32, 4);
  dim3 g((nx - 2 * RADIUS + 31) / 32, (ny - 2 * RADIUS + 3) / 4);
  wave_kernel<<<g, b>>>(p, q, vel, nx, ny);
}

/* FDTD, transverse magnetic: first the magnetic fields, then the electric one, in place. ez[ny][nx], hx[ny-1][nx], hy[ny][nx-1] */
__global__ void fdtd_h(const float *ez, float *hx, float *hy, int nx, int ny, float s)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny - 1) hx[y * nx + x] -= s * (ez[(y + 1) * nx + x] - ez[y * nx + x]);
  if (x < nx - 1 && y < ny) hy[y * (nx - 1) + x] += s * (ez[y * nx + x + 1] - ez[y * nx + x]);
}

__global__ void fdtd_e(float *ez, const float *hx, const float *hy, int nx, int ny, float s)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  ez[y * nx + x] += s * ((hy[y * (nx - 1) + x] - hy[y * (nx - 1) + x - 1]) - (hx[y * nx + x] - hx[(y - 1) * nx + x]));
}

void fdtd_step(float *ez, float *hx, float *hy, int nx, int ny, float s)
{
  dim3 b(16, 16), g((nx + 15) / 16, (ny + 15) / 16);
  fdtd_h<<<g, b>>>(ez, hx, hy, nx, ny, s);
  fdtd_e<<<g, b>>>(ez, hx, hy, nx, ny, s);
}
