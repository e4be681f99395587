#include <cuda_runtime.h>

#include <cstdint>

// y = w x in 32 bits.
__global__ void gemv_kernel(int* y, const int8_t* w, const int8_t* x, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  int sum = 0;
  for (int c = 0; c < C; ++c) sum += (int)w[(size_t)r * C + c] * (int)x[c];
  y[r] = sum;
}

void int8_gemv(int* y, const int8_t* w, const int8_t* x, int R, int C, cudaStream_t stream) {
  if (R > 0) gemv_kernel<<<(unsigned)(((long long)R + 127) / 128), 128, 0, stream>>>(y, w, x, R, C);
}
