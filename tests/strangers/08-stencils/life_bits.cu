/* Game of life with 32 cells in a word: bit tricks. width counts words; dead cells outside. */
#include <cuda_runtime.h>

typedef unsigned int u32;

__device__ __forceinline__ void add(u32 &s0, u32 &s1, u32 &s2, u32 v)
{
  u32 c0 = s0 & v;
  s0 ^= v;
  u32 c1 = s1 & c0;
  s1 ^= c0;
  s2 |= c1; /* four or more: exact count does not matter */
}

__global__ void life_kernel(const u32 *__restrict__ in, u32 *__restrict__ out, int width, int height)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  u32 s0 = 0, s1 = 0, s2 = 0, self = 0;
#pragma unroll
  for (int dy = -1; dy <= 1; dy++) {
    int yy = y + dy;
    if (yy < 0 || yy >= height) continue;
    u32 m = in[yy * width + x];
    u32 l = x > 0 ? in[yy * width + x - 1] : 0;
    u32 r = x < width - 1 ? in[yy * width + x + 1] : 0;
    add(s0, s1, s2, __funnelshift_l(l, m, 1)); /* the neighbour to the left: one bit up */
    add(s0, s1, s2, __funnelshift_r(m, r, 1));
    if (dy == 0)
      self = m;
    else
      add(s0, s1, s2, m);
  }
  out[y * width + x] = s1 & ~s2 & (s0 | self);
}

void life_bits(const u32 *in, u32 *out, int width, int height)
{
  dim3 b(8, 16), g((width + 7) / 8, (height + 15) / 16);
  life_kernel<<<g, b>>>(in, out, width, height);
}

/* upwind advection of a 1-D profile in many rows, ghost cells by wrapping, CFL number per row */
__global__ void advect_kernel(const float *u, const float *cfl, float *un, int n, int rows)
{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y;
  if (i >= n || row >= rows) return;
  const float *r = u + (size_t)row * n;
  float c = cfl[row];
  float left = r[i == 0 ? n - 1 : i - 1], right = r[i == n - 1 ? 0 : i + 1];
  un[(size_t)row * n + i] = c >= 0 ? r[i] - c * (r[i] - left) : r[i] - c * (right - r[i]);
}
