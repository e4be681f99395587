#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (batch, cols, rows) = transposes of x (batch, rows, cols), by tiles in shared memory.
constexpr int TILE = 32;

__global__ void __launch_bounds__(256) transpose_kernel(float* out, const float* x, int rows, int cols) {
  __shared__ float tile[TILE][TILE + 1];
  size_t plane = (size_t)rows * cols * blockIdx.z;
  int c = blockIdx.x * TILE + threadIdx.x;
  for (int k = threadIdx.y; k < TILE; k += 8) {
    int r = blockIdx.y * TILE + k;
    if (r < rows && c < cols) tile[k][threadIdx.x] = x[plane + (size_t)r * cols + c];
  }
  __syncthreads();
  int r = blockIdx.y * TILE + threadIdx.x;
  for (int k = threadIdx.y; k < TILE; k += 8) {
    int cc = blockIdx.x * TILE + k;
    if (r < rows && cc < cols) out[plane + (size_t)cc * rows + r] = tile[threadIdx.x][k];
  }
}

void batched_transpose(float* out, const float* x, int batch, int rows, int cols) {
  if (batch <= 0 || rows <= 0 || cols <= 0) return;
  dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE, batch < 65535 ? batch : 65535);
  transpose_kernel<<<grid, dim3(TILE, 8)>>>(out, x, rows, cols);
}
