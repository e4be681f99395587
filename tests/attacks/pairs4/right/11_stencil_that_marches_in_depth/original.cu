#include <cuda_runtime.h>


// y = a * x + b * (sum of the six neighbours) on a grid x[Z,Y,X]; neighbours outside of the grid count as zero.
__global__ void stencil_kernel(float* y, const float* x, int Z, int Y, int X, float a, float b) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)Z * Y * X) return;
  int ix = i % X, iy = i / X % Y, iz = i / ((size_t)X * Y);
  float west = ix > 0 ? x[i - 1] : 0.0f, east = ix < X - 1 ? x[i + 1] : 0.0f;
  float north = iy > 0 ? x[i - X] : 0.0f, south = iy < Y - 1 ? x[i + X] : 0.0f;
  float below = iz > 0 ? x[i - (size_t)X * Y] : 0.0f, above = iz < Z - 1 ? x[i + (size_t)X * Y] : 0.0f;
  y[i] = a * x[i] + b * (((west + east) + (north + south)) + (below + above));
}

void stencil7(float* y, const float* x, int Z, int Y, int X, float a, float b, cudaStream_t stream) {
  size_t total = (size_t)Z * Y * X;
  if (total == 0) return;
  stencil_kernel<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(y, x, Z, Y, X, a, b);
}
