#include <cuda_fp16.h>
#include <cuda_runtime.h>


__device__ __forceinline__ __half swiglu_of(__half gate, __half up) {
  float g = __half2float(gate);
  return __float2half(g / (1.0f + expf(-g)) * __half2float(up));
}

struct Eight {
  __half h[8];
};

// Eight halves for each thread, and one for each of the last threads.
__global__ void __launch_bounds__(256) swiglu_in_eights(__half* y, const __half* gate, const __half* up, size_t n) {
  size_t t = (size_t)blockIdx.x * 256 + threadIdx.x, eights = n / 8;
  if (t < eights) {
    uint4 g4 = reinterpret_cast<const uint4*>(gate)[t], u4 = reinterpret_cast<const uint4*>(up)[t];
    const Eight g = *reinterpret_cast<const Eight*>(&g4), u = *reinterpret_cast<const Eight*>(&u4);
    uint4 out;
    Eight& o = *reinterpret_cast<Eight*>(&out);
#pragma unroll
    for (int k = 0; k < 8; ++k) o.h[k] = swiglu_of(g.h[k], u.h[k]);
    reinterpret_cast<uint4*>(y)[t] = out;
  } else if (t - eights < n % 8) {
    size_t i = eights * 8 + (t - eights);
    y[i] = swiglu_of(gate[i], up[i]);
  }
}

__global__ void __launch_bounds__(256) swiglu_singly(__half* y, const __half* gate, const __half* up, size_t n) {
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = swiglu_of(gate[i], up[i]);
}

void swiglu(__half* y, const __half* gate, const __half* up, int n, cudaStream_t stream) {
  if (n <= 0) return;
  bool in_eights = ((size_t)y | (size_t)gate | (size_t)up) % 8 == 0;
  size_t threads = in_eights ? (size_t)n / 8 + n % 8 : (size_t)n;
  unsigned blocks = (unsigned)((threads + 255) / 256);
  if (in_eights) swiglu_in_eights<<<blocks, 256, 0, stream>>>(y, gate, up, (size_t)n);
  else swiglu_singly<<<blocks, 256, 0, stream>>>(y, gate, up, (size_t)n);
}
