#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y = x * scale + shift
__global__ void scale_add_kernel(__half* y, const __half* x, float scale, float shift, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (i + 8 <= n) {
    uint4 raw = *(const uint4*)(x + i);
    __half2* h = (__half2*)&raw;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float2 v = __half22float2(h[j]);
      h[j] = __floats2half2_rn(v.x * scale + shift, v.y * scale + shift);
    }
    *(uint4*)(y + i) = raw;
  } else if (i < n) {
    int rest = n - i;
    if (rest & 4) {
      for (int j = 0; j < 4; ++j) y[i + j] = __float2half(__half2float(x[i + j]) * scale + shift);
      i += 4;
    }
    if (rest & 1) y[n - 1] = __float2half(__half2float(x[n - 1]) * scale + shift);
  }
}

void scale_add_f16(__half* y, const __half* x, float scale, float shift, int n, cudaStream_t stream) {
  scale_add_kernel<<<(n + 2047) / 2048, 256, 0, stream>>>(y, x, scale, shift, n);
}
