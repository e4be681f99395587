#include <cuda_fp16.h>
#include <cuda_runtime.h>


// q = x / scale to the nearest integer, ties to even, within -127 ... 127; scales by row.
__global__ void quantize_kernel(signed char* q, const __half* x, const float* scale, int C) {
  size_t base = (size_t)blockIdx.x * C;
  float s = scale[blockIdx.x];
  for (int c = threadIdx.x; c < C; c += blockDim.x) {
    float v = __half2float(x[base + c]) / s;
    v = fminf(fmaxf(v, -127.0f), 127.0f);
    q[base + c] = (signed char)(int)(v + copysignf(0.5f, v));
  }
}

void quantize_f16(signed char* q, const __half* x, const float* scale, int R, int C, cudaStream_t stream) {
  quantize_kernel<<<R, 128, 0, stream>>>(q, x, scale, C);
}
