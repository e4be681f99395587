#include <cuda_fp16.h>
#include <cuda_runtime.h>


__device__ float swiglu_value(__half gate, __half up) {
  float g = __half2float(gate);
  return g / (1.0f + expf(-g)) * __half2float(up);
}

__global__ void swiglu_kernel(__half* y, const __half* gate, const __half* up, int begin, int n) {
  int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2half(swiglu_value(gate[i], up[i]));
}

// Eight elements, 16 bytes, per thread.
__global__ void swiglu_vectors(uint4* y, const uint4* gate, const uint4* up, int vectors) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= vectors) return;
  uint4 gv = gate[i], uv = up[i], yv;
  const __half *g = (const __half*)&gv, *u = (const __half*)&uv;
  __half* r = (__half*)&yv;
#pragma unroll
  for (int j = 0; j < 8; ++j) r[j] = __float2half(swiglu_value(g[j], u[j]));
  y[i] = yv;
}

void swiglu(__half* y, const __half* gate, const __half* up, int n, cudaStream_t stream) {
  if (n <= 0) return;
  int vectors = (size_t)gate % 16 == 0 ? n / 8 : 0, rest = n - vectors * 8;
  if (vectors > 0)
    swiglu_vectors<<<(vectors + 255) / 256, 256, 0, stream>>>((uint4*)y, (const uint4*)gate, (const uint4*)up, vectors);
  if (rest > 0) swiglu_kernel<<<(rest + 255) / 256, 256, 0, stream>>>(y, gate, up, vectors * 8, n);
}
