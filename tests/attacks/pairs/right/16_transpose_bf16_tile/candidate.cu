#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (cols, rows) = transpose of x (rows, cols), bfloat16, by padded tiles of 64 x 32 in shared memory. Blocks are numbered along
// one dimension of the grid.
constexpr int TR = 64, TC = 32;

__global__ void __launch_bounds__(256) transpose_kernel(__nv_bfloat16* out, const __nv_bfloat16* x, int rows, int cols, int across) {
  __shared__ __nv_bfloat16 tile[TR][TC + 2];
  int r0 = blockIdx.x / across * TR, c0 = blockIdx.x % across * TC;
  for (int i = threadIdx.x; i < TR * TC; i += 256) {
    int r = i / TC, c = i % TC;
    if (r0 + r < rows && c0 + c < cols) tile[r][c] = x[(size_t)(r0 + r) * cols + c0 + c];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < TR * TC; i += 256) {
    int c = i / TR, r = i % TR;
    if (r0 + r < rows && c0 + c < cols) out[(size_t)(c0 + c) * rows + r0 + r] = tile[r][c];
  }
}

void transpose_bf16(__nv_bfloat16* out, const __nv_bfloat16* x, int rows, int cols) {
  if (rows <= 0 || cols <= 0) return;
  int across = (cols - 1) / TC + 1, down = (rows - 1) / TR + 1;
  transpose_kernel<<<(unsigned)across * (unsigned)down, 256>>>(out, x, rows, cols, across);
}
