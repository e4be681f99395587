#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y = silu(gate) * up; all three may be views that begin at any element.
__global__ void swiglu_kernel(__half* y, const __half* gate, const __half* up, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float g = __half2float(gate[i]);
  y[i] = __float2half(g / (1.0f + expf(-g)) * __half2float(up[i]));
}

void swiglu(__half* y, const __half* gate, const __half* up, int n, cudaStream_t stream) {
  if (n <= 0) return;
  swiglu_kernel<<<(unsigned)(((size_t)n + 255) / 256), 256, 0, stream>>>(y, gate, up, (size_t)n);
}
