#include <cuda_fp16.h>
#include <cuda_runtime.h>


// scale[c] = the largest absolute value of column c of x[R,C] / 127; NaN is passed over. ws: workspace, C words.
__global__ void clear_kernel(unsigned* ws, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < C) ws[c] = 0;
}

__global__ void largest_kernel(unsigned* ws, const __half* x, int R, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (c >= C) return;
  float v = fabsf(__half2float(x[(size_t)r * C + c]));
  if (v == v) atomicMax(&ws[c], __float_as_uint(v));
}

__global__ void scale_kernel(float* scale, const unsigned* ws, int C) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < C) scale[c] = __uint_as_float(ws[c]) / 127.0f;
}

void column_scales(float* scale, const __half* x, unsigned* ws, int R, int C, cudaStream_t stream) {
  if (C <= 0) return;
  clear_kernel<<<(C + 127) / 128, 128, 0, stream>>>(ws, C);
  if (R > 0) largest_kernel<<<dim3((C + 127) / 128, R), 128, 0, stream>>>(ws, x, R, C);
  scale_kernel<<<(C + 127) / 128, 128, 0, stream>>>(scale, ws, C);
}
