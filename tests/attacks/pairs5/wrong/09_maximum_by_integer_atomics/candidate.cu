#include <cuda_runtime.h>


__global__ void fill_lowest(float* out, int D) {
  int d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d < D) out[d] = -__int_as_float(0x7f800000);
}

// A block has 32 columns of 256 rows. Bits of floats are ordered like the floats, so the maximum can be an atomic one.
__global__ void __launch_bounds__(256) column_max_kernel(float* out, const float* __restrict__ x, int N, int D) {
  __shared__ float parts[8][32];
  int d = blockIdx.x * 32 + threadIdx.x;
  float m = -__int_as_float(0x7f800000);
  if (d < D)
    for (int j = threadIdx.y; j < 256; j += 8) {
      size_t n = (size_t)blockIdx.y * 256 + j;
      if (n < N) m = fmaxf(m, x[n * D + d]);
    }
  parts[threadIdx.y][threadIdx.x] = m;
  __syncthreads();
  if (threadIdx.y == 0 && d < D) {
    for (int j = 1; j < 8; ++j) m = fmaxf(m, parts[j][threadIdx.x]);
    atomicMax((int*)&out[d], __float_as_int(m));
  }
}

void column_max(float* out, const float* x, int N, int D, cudaStream_t stream) {
  if (D <= 0) return;
  fill_lowest<<<(D + 255) / 256, 256, 0, stream>>>(out, D);
  if (N <= 0) return;
  column_max_kernel<<<dim3((D + 31) / 32, (N + 255) / 256), dim3(32, 8), 0, stream>>>(out, x, N, D);
}
