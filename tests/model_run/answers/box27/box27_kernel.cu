// nine points of a plane around (i, j)
__device__ __forceinline__ float plane9(const float *u, int nx, int ny, int i, int j, int k)
{
  float s = 0;
#pragma unroll
  for (int b = -1; b <= 1; b++)
#pragma unroll
    for (int a = -1; a <= 1; a++) s += u[IX3(i + a, j + b, k)];
  return s;
}

/* 27-point box average of the interior; the shell is copied. A thread computes `chunk` points above each other. */
__global__ void box27_kernel(const float * __restrict__ u, float * __restrict__ un, int nx, int ny, int nz, int chunk)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  int k0 = blockIdx.z * chunk, k1 = min(k0 + chunk, nz);
  bool shell = i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1;
  float below = 0, here = 0;
  if (!shell && k1 > 1) {
    int first = max(k0, 1);
    if (first < nz - 1) {
      below = plane9(u, nx, ny, i, j, first - 1);
      here = plane9(u, nx, ny, i, j, first);
    }
  }
  for (int k = k0; k < k1; k++) {
    if (shell || k < 1 || k >= nz - 1) {
      un[IX3(i, j, k)] = u[IX3(i, j, k)];
      continue;
    }
    float above = plane9(u, nx, ny, i, j, k + 1);
    un[IX3(i, j, k)] = (below + here + above) / 27;
    below = here;
    here = above;
  }
}
