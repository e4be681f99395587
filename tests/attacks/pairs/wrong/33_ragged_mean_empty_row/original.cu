#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// out (rows) = mean of the first lengths[row] elements of each row of (rows, cols); 0 where the length is 0.
__global__ void ragged_mean_kernel(float* out, const float* x, const int* lengths, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (int j = 0; j < lengths[r]; ++j) sum += x[(size_t)r * cols + j];
  out[r] = lengths[r] > 0 ? sum / lengths[r] : 0.0f;
}

void ragged_mean(float* out, const float* x, const int* lengths, int rows, int cols) {
  if (rows > 0) ragged_mean_kernel<<<(rows + 127) / 128, 128>>>(out, x, lengths, rows, cols);
}
