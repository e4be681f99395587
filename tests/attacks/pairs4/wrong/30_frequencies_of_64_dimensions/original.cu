#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Rotary embedding of x[T,H,D] at the positions start, start + 1, ...: the elements i and i + D / 2 of a head are
// rotated by position * 10000^(-2 i / D). D is even. May work in place.
__global__ void rope_kernel(__half* y, const __half* x, int T, int H, int D, int start) {
  size_t p = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  int half = D / 2;
  if (p >= (size_t)T * H * half) return;
  int i = p % half, t = p / ((size_t)half * H);
  float angle = (float)(start + t) * powf(10000.0f, -2.0f * i / D);
  float s = sinf(angle), c = cosf(angle);
  size_t at = p / half * D + i;
  float a = __half2float(x[at]), b = __half2float(x[at + half]);
  y[at] = __float2half(a * c - b * s);
  y[at + half] = __float2half(a * s + b * c);
}

void rope(__half* y, const __half* x, int T, int H, int D, int start, cudaStream_t stream) {
  size_t pairs = (size_t)T * H * (D / 2);
  if (pairs == 0) return;
  rope_kernel<<<(unsigned)((pairs + 127) / 128), 128, 0, stream>>>(y, x, T, H, D, start);
}
