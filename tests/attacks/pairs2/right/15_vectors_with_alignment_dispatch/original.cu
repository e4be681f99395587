#include <cuda_fp16.h>
#include <cuda_runtime.h>


// out = silu(gate) * up
__global__ void silu_mul_kernel(__half* out, const __half* gate, const __half* up, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float g = __half2float(gate[i]);
  out[i] = __float2half(g / (1.0f + expf(-g)) * __half2float(up[i]));
}

void silu_mul_f16(__half* out, const __half* gate, const __half* up, int n, cudaStream_t stream) {
  silu_mul_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, gate, up, n);
}
