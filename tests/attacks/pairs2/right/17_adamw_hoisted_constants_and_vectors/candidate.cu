#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <math.h>


// One step of AdamW in place on the float master weights, and a bf16 copy for the next forward pass. step is 1, 2, ...
// The powers are the launcher's; four elements for each thread where all pointers allow it.
struct Step {
  float lr, b1, b2, eps, decay, c1, c2;
};

__device__ __forceinline__ void update(float& p, float& m, float& v, float g, const Step& s) {
  float w = p * (1.0f - s.lr * s.decay);
  m = s.b1 * m + (1.0f - s.b1) * g;
  v = s.b2 * v + (1.0f - s.b2) * g * g;
  p = w - s.lr * (m / s.c1) / (sqrtf(v / s.c2) + s.eps);
}

template <bool VECTOR>
__global__ void adamw_kernel(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, Step s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (VECTOR) {
    if (i < n / 4) {
      float4 pp = ((float4*)p)[i], mm = ((float4*)m)[i], vv = ((float4*)v)[i], gg = ((const float4*)g)[i];
      update(pp.x, mm.x, vv.x, gg.x, s);
      update(pp.y, mm.y, vv.y, gg.y, s);
      update(pp.z, mm.z, vv.z, gg.z, s);
      update(pp.w, mm.w, vv.w, gg.w, s);
      ((float4*)p)[i] = pp;
      ((float4*)m)[i] = mm;
      ((float4*)v)[i] = vv;
      ((__nv_bfloat162*)copy)[2 * i] = __floats2bfloat162_rn(pp.x, pp.y);
      ((__nv_bfloat162*)copy)[2 * i + 1] = __floats2bfloat162_rn(pp.z, pp.w);
    }
    i = i < n % 4 ? n / 4 * 4 + i : n;  // the first threads also take what is left
  }
  if (i < n) {
    update(p[i], m[i], v[i], g[i], s);
    copy[i] = __float2bfloat16(p[i]);
  }
}

void adamw(float* p, float* m, float* v, __nv_bfloat16* copy, const float* g, float lr, float b1, float b2, float eps,
           float decay, int step, int n, cudaStream_t stream) {
  Step s{lr, b1, b2, eps, decay, (float)(1.0 - pow((double)b1, (double)step)), (float)(1.0 - pow((double)b2, (double)step))};
  bool aligned = (((size_t)p | (size_t)m | (size_t)v | (size_t)g) & 15) == 0 && ((size_t)copy & 3) == 0;
  int threads = aligned ? n / 4 + 3 : n;
  if (aligned)
    adamw_kernel<true><<<(threads + 255) / 256, 256, 0, stream>>>(p, m, v, copy, g, s, n);
  else
    adamw_kernel<false><<<(threads + 255) / 256, 256, 0, stream>>>(p, m, v, copy, g, s, n);
}
