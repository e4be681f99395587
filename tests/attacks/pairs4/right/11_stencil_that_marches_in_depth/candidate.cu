#include <cuda_runtime.h>


// A block has 32 x 8 columns of up to 16 layers and goes through them: the value below, here and above is in registers,
// the layer with its border in one of two planes of shared memory, so that one barrier per layer is enough.
__global__ void __launch_bounds__(256) stencil_kernel(float* y, const float* __restrict__ x, int Z, int Y, int X,
                                                      float a, float b, int tiles_x, int tiles_y) {
  __shared__ float plane[2][10][34];
  int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
  int ix = blockIdx.x % tiles_x * 32 + tx, iy = blockIdx.x / tiles_x % tiles_y * 8 + ty;
  int z0 = blockIdx.x / (tiles_x * tiles_y) * 16, z1 = z0 + 16 < Z ? z0 + 16 : Z;
  bool inside = ix < X && iy < Y;
  size_t layer = (size_t)X * Y, at = (size_t)z0 * layer + (size_t)iy * X + ix;
  float below = inside && z0 > 0 ? x[at - layer] : 0.0f;
  float here = inside ? x[at] : 0.0f;
  for (int z = z0; z < z1; ++z, at += layer) {
    float(*p)[34] = plane[z & 1];
    p[ty + 1][tx + 1] = here;
    if (tx == 0) p[ty + 1][0] = iy < Y && ix > 0 && ix <= X ? x[at - 1] : 0.0f;
    if (tx == 31) p[ty + 1][33] = iy < Y && ix + 1 < X ? x[at + 1] : 0.0f;
    if (ty == 0) p[0][tx + 1] = ix < X && iy > 0 && iy <= Y ? x[at - X] : 0.0f;
    if (ty == 7) p[9][tx + 1] = ix < X && iy + 1 < Y ? x[at + X] : 0.0f;
    float above = inside && z + 1 < Z ? x[at + layer] : 0.0f;
    __syncthreads();
    if (inside) {
      float west = p[ty + 1][tx], east = p[ty + 1][tx + 2], north = p[ty][tx + 1], south = p[ty + 2][tx + 1];
      y[at] = a * here + b * (((west + east) + (north + south)) + (below + above));
    }
    below = here;
    here = above;
  }
}

void stencil7(float* y, const float* x, int Z, int Y, int X, float a, float b, cudaStream_t stream) {
  size_t total = (size_t)Z * Y * X;
  if (total == 0) return;
  int tiles_x = (X + 31) / 32, tiles_y = (Y + 7) / 8, tiles_z = (Z + 15) / 16;
  stencil_kernel<<<(unsigned)((size_t)tiles_x * tiles_y * tiles_z), 256, 0, stream>>>(y, x, Z, Y, X, a, b, tiles_x,
                                                                                      tiles_y);
}
