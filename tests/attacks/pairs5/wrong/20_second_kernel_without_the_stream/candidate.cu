#include <cuda_bf16.h>
#include <cuda_runtime.h>


// A block has 16 columns and 32 rows at a time.
__global__ void __launch_bounds__(512) column_mean(float* mean, const __nv_bfloat16* x, int N, int D) {
  __shared__ float parts[32][17];
  int d = blockIdx.x * 16 + threadIdx.x;
  float s = 0.0f;
  if (d < D)
    for (int n = threadIdx.y; n < N; n += 32) s += __bfloat162float(x[(size_t)n * D + d]);
  parts[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.y == 0 && d < D) {
    for (int j = 1; j < 32; ++j) s += parts[j][threadIdx.x];
    mean[d] = s / N;
  }
}

// Sixteen rows per block, the mean of a column is loaded once for them.
__global__ void subtract_mean(__nv_bfloat16* y, const __nv_bfloat16* x, const float* mean, int N, int D) {
  int d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d >= D) return;
  float m = mean[d];
  for (size_t n = blockIdx.y * 16; n < blockIdx.y * 16 + 16 && n < N; ++n)
    y[n * D + d] = __float2bfloat16(__bfloat162float(x[n * D + d]) - m);
}

// y = x - mean of the column; mean is memory to work in.
void center_columns(__nv_bfloat16* y, const __nv_bfloat16* x, float* mean, int N, int D, cudaStream_t stream) {
  if (N <= 0 || D <= 0) return;
  column_mean<<<(D + 15) / 16, dim3(16, 32), 0, stream>>>(mean, x, N, D);
  if (N <= 16 * 65535)
    subtract_mean<<<dim3((D + 127) / 128, (N + 15) / 16), 128>>>(y, x, mean, N, D);
  else
    for (int n = 0; n < N; n += 16 * 65535) {
      int rows = N - n < 16 * 65535 ? N - n : 16 * 65535;
      subtract_mean<<<dim3((D + 127) / 128, (rows + 15) / 16), 128, 0, stream>>>(y + (size_t)n * D, x + (size_t)n * D,
                                                                                mean, rows, D);
    }
}
