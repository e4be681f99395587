// entry: run
// buffer: out f32 6400
// buffer: in f32 6400
// scalar: h i32 80
// scalar: w i32 80
// expect: launch transpose(out, in, 80, 80) 5x5x1 16x16x1
#include <cuda_runtime.h>
#define TILE 16
#define CEIL(a, b) (((a) + (b) - 1) / (b))
__global__ void transpose(float* out, const float* in, int h, int w) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
  if (x < h && y < w) out[y * h + x] = tile[threadIdx.x][threadIdx.y];
}
void run(float* out, const float* in, int h, int w) {
  dim3 block(TILE, TILE), grid;
  grid.x = CEIL(w, block.x);
  grid.y = max(1, CEIL(h, TILE));
  if (grid.x * grid.y > 65535u * 65535u) return;
  transpose<<<grid, block>>>(out, in, h, w);
}
