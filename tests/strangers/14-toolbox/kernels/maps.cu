#include "tbx.h"

DEFINE_MAP(poly5, ((((0.2f * x - 0.3f) * x + 0.5f) * x - 1.0f) * x + 2.0f) * x + 1.0f)

/* inverted dropout with a mask that the caller made: keep where mask != 0 */
__global__ void dropout_k(const float4 *in, const uchar4 *mask, float4 *out, float scale, int64_t n4) {
  TBX_1D(i, n4);
  float4 x = in[i];
  uchar4 m = mask[i];
  out[i] = make_float4(m.x ? x.x * scale : 0.f, m.y ? x.y * scale : 0.f, m.z ? x.z * scale : 0.f, m.w ? x.w * scale : 0.f);
}
extern "C" int tbx_dropout(const float *in, const uint8_t *mask, float *out, float p, int64_t n) {
  if (n & 3) return 22; /* EINVAL */
  dropout_k<<<TBX_GRID(n / 4), TBX_TPB>>>((const float4 *)in, (const uchar4 *)mask, (float4 *)out, 1.0f / (1.0f - p), n / 4);
  return 0;
}

/* sgd with momentum and weight decay, in place */
__global__ void sgd_k(float *__restrict__ w, float *__restrict__ m, const float *__restrict__ g, float lr, float mu, float wd, int64_t n) {
  TBX_1D(i, n);
  float v = mu * m[i] + g[i] + wd * w[i];
  m[i] = v;
  w[i] -= lr * v;
}
extern "C" void tbx_sgd_momentum(float *w, float *m, const float *g, float lr, float mu, float wd, int64_t n) {
  sgd_k<<<TBX_GRID(n), TBX_TPB>>>(w, m, g, lr, mu, wd, n);
}

/* bit tricks: population count, leading zeros, reversed bits, in one word each */
__global__ void bits_k(const uint32_t *in, uint32_t *out, int64_t n) {
  TBX_1D(i, n);
  uint32_t v = in[i];
  out[i] = __popc(v) | (uint32_t)__clz(v) << 8 | (__brev(v) & 0xffff0000u);
}
extern "C" void tbx_bits(const uint32_t *in, uint32_t *out, int64_t n) { bits_k<<<TBX_GRID(n), TBX_TPB>>>(in, out, n); }
