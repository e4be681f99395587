#include <cuda_fp16.h>
#include <cuda_runtime.h>


// The conversion rounds to even, takes NaN to 0 and saturates at 32 bits.
__device__ __forceinline__ int quantize(float v) { return max(-128, min(127, __float2int_rn(v))); }

__global__ void quantize_scalar(signed char* q, const __half* x, const float* inverse, int R, int C) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)R * C) return;
  q[i] = (signed char)quantize(__half2float(x[i]) * inverse[i % C]);
}

// Four columns per thread.
__global__ void __launch_bounds__(256) quantize_vector(char4* q, const __half2* __restrict__ x,
                                                       const float4* __restrict__ inverse, size_t quads, int per_row) {
  for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < quads; i += (size_t)gridDim.x * 256) {
    float4 f = inverse[i % per_row];
    float2 a = __half22float2(x[2 * i]), b = __half22float2(x[2 * i + 1]);
    q[i] = make_char4(quantize(a.x * f.x), quantize(a.y * f.y), quantize(b.x * f.z), quantize(b.y * f.w));
  }
}

void quantize_channels(signed char* q, const __half* x, const float* inverse, int R, int C, cudaStream_t stream) {
  size_t total = (size_t)R * C;
  if (total == 0) return;
  if (C % 4 == 0 && (size_t)q % 4 == 0 && (size_t)x % 4 == 0 && (size_t)inverse % 16 == 0) {
    size_t quads = total / 4, blocks = (quads + 255) / 256;
    quantize_vector<<<(unsigned)(blocks < 1056 ? blocks : 1056), 256, 0, stream>>>(
        (char4*)q, (const __half2*)x, (const float4*)inverse, quads, C / 4);
  } else {
    quantize_scalar<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(q, x, inverse, R, C);
  }
}
