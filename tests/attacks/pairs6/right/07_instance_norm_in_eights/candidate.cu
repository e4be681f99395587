#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Welford's moments; two of them are merged by Chan's formula.
struct Moments {
  float count, mean, m2;
};
__device__ __forceinline__ void add(Moments& a, float x) {
  a.count += 1.0f;
  float d = x - a.mean;
  a.mean += d / a.count;
  a.m2 += d * (x - a.mean);
}
__device__ __forceinline__ Moments merged(Moments a, Moments b) {
  float count = a.count + b.count;
  if (count == 0.0f) return a;
  float d = b.mean - a.mean, share = b.count / count;
  return {count, a.mean + d * share, a.m2 + b.m2 + d * d * a.count * share};
}
__device__ __forceinline__ Moments from_lane(Moments a, int mask) {
  return {__shfl_xor_sync(0xffffffffu, a.count, mask), __shfl_xor_sync(0xffffffffu, a.mean, mask),
          __shfl_xor_sync(0xffffffffu, a.m2, mask)};
}

struct Eight {
  __half h[8];
};

// One pass for mean and variance, one that writes; eight halves at a time where all planes are aligned.
template <bool kEights>
__global__ void __launch_bounds__(256) instance_norm_kernel(__half* y, const __half* x, int L, float eps) {
  __shared__ Moments part[8];
  __shared__ float stats[2];
  const __half* in = x + (size_t)blockIdx.x * L;
  __half* out = y + (size_t)blockIdx.x * L;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Moments own = {0.0f, 0.0f, 0.0f};
  if (kEights) {
    for (unsigned i = threadIdx.x; i < (unsigned)L / 8; i += 256) {
      uint4 raw = reinterpret_cast<const uint4*>(in)[i];
      const Eight v = *reinterpret_cast<const Eight*>(&raw);
#pragma unroll
      for (int k = 0; k < 8; ++k) add(own, __half2float(v.h[k]));
    }
  } else {
    for (unsigned i = threadIdx.x; i < (unsigned)L; i += 256) add(own, __half2float(in[i]));
  }
  for (int o = 16; o > 0; o /= 2) {
    Moments other = from_lane(own, o);
    own = lane & o ? merged(other, own) : merged(own, other);
  }
  if (lane == 0) part[warp] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    Moments all = part[0];
    for (int w = 1; w < 8; ++w) all = merged(all, part[w]);
    stats[0] = all.mean;
    stats[1] = 1.0f / sqrtf(all.m2 / L + eps);
  }
  __syncthreads();
  float mean = stats[0], rstd = stats[1];
  if (kEights) {
    for (unsigned i = threadIdx.x; i < (unsigned)L / 8; i += 256) {
      uint4 raw = reinterpret_cast<const uint4*>(in)[i];
      Eight& v = *reinterpret_cast<Eight*>(&raw);
#pragma unroll
      for (int k = 0; k < 8; ++k) v.h[k] = __float2half((__half2float(v.h[k]) - mean) * rstd);
      reinterpret_cast<uint4*>(out)[i] = raw;
    }
  } else {
    for (unsigned i = threadIdx.x; i < (unsigned)L; i += 256) out[i] = __float2half((__half2float(in[i]) - mean) * rstd);
  }
}

void instance_norm(__half* y, const __half* x, int P, int L, float eps, cudaStream_t stream) {
  if (P <= 0 || L <= 0) return;
  if (L % 8 == 0 && ((size_t)y | (size_t)x) % 16 == 0)
    instance_norm_kernel<true><<<P, 256, 0, stream>>>(y, x, L, eps);
  else instance_norm_kernel<false><<<P, 256, 0, stream>>>(y, x, L, eps);
}
