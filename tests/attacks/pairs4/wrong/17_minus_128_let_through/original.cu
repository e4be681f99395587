#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Symmetric quantization: q[r,c] = round(x[r,c] * inverse[c]), ties to even, limited to -127 ... 127 so that -q exists
// for every q; 0 for what is no number.
__global__ void quantize_kernel(signed char* q, const __half* x, const float* inverse, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  float v = rintf(__half2float(x[i]) * inverse[i % C]);
  if (v != v) v = 0.0f;
  q[i] = (signed char)(int)fminf(fmaxf(v, -127.0f), 127.0f);
}

void quantize_channels(signed char* q, const __half* x, const float* inverse, int R, int C, cudaStream_t stream) {
  size_t total = (size_t)R * C;
  if (total == 0) return;
  quantize_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(q, x, inverse, R, C);
}
