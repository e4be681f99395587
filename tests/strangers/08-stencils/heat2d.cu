/*
 * 2-D heat equation, explicit Euler, five-point stencil. Boundary values stay as they are.
 */
#include <cuda_runtime.h>

#define IDX(i, j) ((size_t)(i) * nx + (j))

__global__ void heat_global(const float *t, float *tn, int nx, int ny, float c)
{
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= ny || j >= nx)
    return;
  if (i == 0 || j == 0 || i == ny - 1 || j == nx - 1)
    tn[IDX(i, j)] = t[IDX(i, j)];
  else
    tn[IDX(i, j)] = t[IDX(i, j)] + c * (t[IDX(i - 1, j)] + t[IDX(i + 1, j)] + t[IDX(i, j - 1)] + t[IDX(i, j + 1)] - 4.0f * t[IDX(i, j)]);
}

#define BX 32
#define BY 8

__global__ void heat_shared(const float *t, float *tn, int nx, int ny, float c)
{
  __shared__ float s[BY + 2][BX + 2];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int j = blockIdx.x * BX + threadIdx.x;
  const int i = blockIdx.y * BY + threadIdx.y;
  const bool inside = i < ny && j < nx;

  if (inside) {
    s[ty][tx] = t[IDX(i, j)];
    if (threadIdx.x == 0 && j > 0) s[ty][0] = t[IDX(i, j - 1)];
    if (threadIdx.x == BX - 1 && j < nx - 1) s[ty][BX + 1] = t[IDX(i, j + 1)];
    if (threadIdx.y == 0 && i > 0) s[0][tx] = t[IDX(i - 1, j)];
    if (threadIdx.y == BY - 1 && i < ny - 1) s[BY + 1][tx] = t[IDX(i + 1, j)];
  }
  __syncthreads();
  if (!inside)
    return;
  float v = s[ty][tx];
  if (i > 0 && j > 0 && i < ny - 1 && j < nx - 1)
    v += c * (s[ty - 1][tx] + s[ty + 1][tx] + s[ty][tx - 1] + s[ty][tx + 1] - 4.0f * s[ty][tx]);
  tn[IDX(i, j)] = v;
}

/* each thread marches over 8 rows and keeps three rows of its column in registers */
template <int STEPS>
__global__ void heat_march(const float *__restrict__ t, float *__restrict__ tn, int nx, int ny, float c)
{
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i0 = blockIdx.y * STEPS;
  if (j >= nx)
    return;
  float up = i0 > 0 ? __ldg(&t[IDX(i0 - 1, j)]) : 0.f;
  float mid = __ldg(&t[IDX(i0, j)]);
#pragma unroll
  for (int k = 0; k < STEPS; k++) {
    const int i = i0 + k;
    if (i >= ny)
      return;
    const float down = i + 1 < ny ? __ldg(&t[IDX(i + 1, j)]) : 0.f;
    float v = mid;
    if (i > 0 && j > 0 && i < ny - 1 && j < nx - 1)
      v += c * (up + down + __ldg(&t[IDX(i, j - 1)]) + __ldg(&t[IDX(i, j + 1)]) - 4.0f * mid);
    tn[IDX(i, j)] = v;
    up = mid;
    mid = down;
  }
}

void heat2d_naive(const float *t, float *tn, int nx, int ny, float c)
{
  dim3 b(16, 16), g((nx + 15) / 16, (ny + 15) / 16);
  heat_global<<<g, b>>>(t, tn, nx, ny, c);
}

void heat2d_tiled(const float *t, float *tn, int nx, int ny, float c)
{
  dim3 b(BX, BY), g((nx + BX - 1) / BX, (ny + BY - 1) / BY);
  heat_shared<<<g, b>>>(t, tn, nx, ny, c);
}

void heat2d_fast(const float *t, float *tn, int nx, int ny, float c)
{
  dim3 g((nx + 127) / 128, (ny + 7) / 8);
  heat_march<8><<<g, 128>>>(t, tn, nx, ny, c);
}

/* nsteps steps, the second array is made here */
void heat2d_steps(float *t, int nx, int ny, float c, int nsteps)
{
  float *tmp;
  size_t bytes = (size_t)nx * ny * sizeof(float);
  cudaMalloc((void **)&tmp, bytes);
  dim3 b(16, 16), g((nx + 15) / 16, (ny + 15) / 16);
  for (int s = 0; s < nsteps; s++) {
    heat_global<<<g, b>>>(t, tmp, nx, ny, c);
    cudaMemcpy(t, tmp, bytes, cudaMemcpyDeviceToDevice);
  }
  cudaFree(tmp);
}
