#include <cuda_fp16.h>
#include <cuda_runtime.h>


// out = silu(gate) * up
__global__ void silu_mul_kernel(__half* out, const __half* gate, const __half* up, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float g = __half2float(gate[i]);
  out[i] = __float2half(g / (1.0f + expf(-g)) * __half2float(up[i]));
}

__device__ __forceinline__ float silu_mul_one(float g, float u) { return g / (1.0f + expf(-g)) * u; }

__global__ void silu_mul_vec(__half* out, const __half* gate, const __half* up, int n) {
  long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (i + 8 <= n) {
    uint4 a = *reinterpret_cast<const uint4*>(gate + i), b = *reinterpret_cast<const uint4*>(up + i);
    __half2* p = reinterpret_cast<__half2*>(&a);
    const __half2* q = reinterpret_cast<const __half2*>(&b);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float2 g = __half22float2(p[j]), u = __half22float2(q[j]);
      p[j] = __floats2half2_rn(silu_mul_one(g.x, u.x), silu_mul_one(g.y, u.y));
    }
    *reinterpret_cast<uint4*>(out + i) = a;
  } else {
    for (; i < n; ++i) out[i] = __float2half(silu_mul_one(__half2float(gate[i]), __half2float(up[i])));
  }
}

void silu_mul_f16(__half* out, const __half* gate, const __half* up, int n, cudaStream_t stream) {
  if ((((size_t)out | (size_t)gate | (size_t)up) & 15) == 0)
    silu_mul_vec<<<n / 2048 + (n % 2048 != 0), 256, 0, stream>>>(out, gate, up, n);
  else
    silu_mul_kernel<<<(n + 255) / 256, 256, 0, stream>>>(out, gate, up, n);
}
