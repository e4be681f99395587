#include <cuda_bf16.h>
#include <cuda_runtime.h>


struct Settings {
  float lr, beta1, beta2, eps, decay, correction1, correction2;
};

__device__ __forceinline__ void adamw_value(float& p, float& m, float& v, float g, const Settings& s) {
  m = s.beta1 * m + (1.0f - s.beta1) * g;
  v = s.beta2 * v + (1.0f - s.beta2) * g * g;
  p -= s.lr * (m / s.correction1 / (sqrtf(v / s.correction2) + s.eps) + s.decay * p);
}

__global__ void adamw_ones(float* p, float* m, float* v, __nv_bfloat16* p16, const __nv_bfloat16* g, size_t begin, int n,
                           Settings s) {
  size_t i = begin + (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)n) return;
  float pv = p[i], mv = m[i], vv = v[i];
  adamw_value(pv, mv, vv, __bfloat162float(g[i]), s);
  p[i] = pv;
  m[i] = mv;
  v[i] = vv;
  p16[i] = __float2bfloat16(pv);
}

__global__ void __launch_bounds__(256)
    adamw_fours(float4* p, float4* m, float4* v, uint2* p16, const uint2* g, size_t fours, Settings s) {
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  if (i >= fours) return;
  float4 pv = p[i], mv = m[i], vv = v[i];
  uint2 gv = g[i], rounded;
  const __nv_bfloat16* gs = (const __nv_bfloat16*)&gv;
  __nv_bfloat16* rs = (__nv_bfloat16*)&rounded;
  adamw_value(pv.x, mv.x, vv.x, __bfloat162float(gs[0]), s);
  adamw_value(pv.y, mv.y, vv.y, __bfloat162float(gs[1]), s);
  adamw_value(pv.z, mv.z, vv.z, __bfloat162float(gs[2]), s);
  adamw_value(pv.w, mv.w, vv.w, __bfloat162float(gs[3]), s);
  rs[0] = __float2bfloat16(pv.x);
  rs[1] = __float2bfloat16(pv.y);
  rs[2] = __float2bfloat16(pv.z);
  rs[3] = __float2bfloat16(pv.w);
  p[i] = pv;
  m[i] = mv;
  v[i] = vv;
  p16[i] = rounded;
}

// A step of AdamW on p, with a copy of p in bf16; correction1 = 1 - beta1^t, correction2 = 1 - beta2^t.
void adamw_step(float* p, float* m, float* v, __nv_bfloat16* p16, const __nv_bfloat16* g, int n, float lr, float beta1,
                float beta2, float eps, float decay, float correction1, float correction2, cudaStream_t stream) {
  if (n <= 0) return;
  Settings s = {lr, beta1, beta2, eps, decay, correction1, correction2};
  bool aligned = ((size_t)p | (size_t)m | (size_t)v) % 16 == 0 && ((size_t)p16 | (size_t)g) % 8 == 0;
  size_t fours = aligned ? (size_t)n / 4 : 0, rest = (size_t)n - fours * 4;
  if (fours > 0)
    adamw_fours<<<(unsigned)((fours + 255) / 256), 256, 0, stream>>>((float4*)p, (float4*)m, (float4*)v, (uint2*)p16,
                                                                    (const uint2*)g, fours, s);
  if (rest > 0)
    adamw_ones<<<(unsigned)((rest + 255) / 256), 256, 0, stream>>>(p, m, v, p16, g, fours * 4, n, s);
}
