#include <cuda_fp16.h>
#include <cuda_runtime.h>


// 32 rows per thread, then one atomic.
__global__ void __launch_bounds__(128) largest_kernel(unsigned* ws, const __half* __restrict__ x, int R, int C) {
  int c = blockIdx.x * 128 + threadIdx.x;
  if (c >= C) return;
  int begin = blockIdx.y * 32, end = begin + 32 < R ? begin + 32 : R;
  float top = 0.0f;
  for (int r = begin; r < end; ++r) top = fmaxf(top, fabsf(__half2float(x[(size_t)r * C + c])));
  atomicMax(&ws[c], __float_as_uint(top));
}

// What was read is cleared for the next call, which saves a kernel.
__global__ void __launch_bounds__(128) scale_kernel(float* scale, unsigned* ws, int C) {
  int c = blockIdx.x * 128 + threadIdx.x;
  if (c >= C) return;
  scale[c] = __uint_as_float(ws[c]) / 127.0f;
  ws[c] = 0;
}

void column_scales(float* scale, const __half* x, unsigned* ws, int R, int C, cudaStream_t stream) {
  static thread_local unsigned* clean = nullptr;
  static thread_local int columns = 0;
  if (C <= 0) return;
  if (ws != clean || C > columns) {
    cudaMemsetAsync(ws, 0, sizeof(unsigned) * C, stream);
    clean = ws;
    columns = C;
  }
  if (R > 0) largest_kernel<<<dim3((C + 127) / 128, (R + 31) / 32), 128, 0, stream>>>(ws, x, R, C);
  scale_kernel<<<(C + 127) / 128, 128, 0, stream>>>(scale, ws, C);
}
