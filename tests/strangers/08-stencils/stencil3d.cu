#include <cuda_runtime.h>

#define IX3(i, j, k) (((size_t)(k) * ny + (j)) * nx + (i))

/* 3-D heat, double, periodic in all directions */
__global__ void heat3d_kernel(const double *u, double *un, int nx, int ny, int nz, double r)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  int k = blockIdx.z * blockDim.z + threadIdx.z;
  if (i >= nx || j >= ny || k >= nz) return;
  int im = i == 0 ? nx - 1 : i - 1, ip = i == nx - 1 ? 0 : i + 1;
  int jm = j == 0 ? ny - 1 : j - 1, jp = j == ny - 1 ? 0 : j + 1;
  int km = k == 0 ? nz - 1 : k - 1, kp = k == nz - 1 ? 0 : k + 1;
  double c = u[IX3(i, j, k)];
  un[IX3(i, j, k)] = c + r * (u[IX3(im, j, k)] + u[IX3(ip, j, k)] + u[IX3(i, jm, k)] + u[IX3(i, jp, k)] +
                              u[IX3(i, j, km)] + u[IX3(i, j, kp)] - 6.0 * c);
}

void heat3d(const double *u, double *un, int nx, int ny, int nz, double r)
{
  dim3 b(8, 8, 4);
  dim3 g((nx + 7) / 8, (ny + 7) / 8, (nz + 3) / 4);
  heat3d_kernel<<<g, b>>>(u, un, nx, ny, nz, r);
}

/* 27-point box average of the interior; the shell is copied */
__global__ void box27_kernel(const float *u, float *un, int nx, int ny, int nz)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y;
  int k = blockIdx.z;
  if (i >= nx) return;
  if (i < 1 || j < 1 || k < 1 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1) {
    un[IX3(i, j, k)] = u[IX3(i, j, k)];
    return;
  }
  float s = 0;
  for (int c = -1; c <= 1; c++)
    for (int b = -1; b <= 1; b++)
      for (int a = -1; a <= 1; a++) s += u[IX3(i + a, j + b, k + c)];
  un[IX3(i, j, k)] = s / 27;
}

void box27(const float *u, float *un, int nx, int ny, int nz)
{
  box27_kernel<<<dim3((nx + 31) / 32, ny, nz), 32>>>(u, un, nx, ny, nz);
}
