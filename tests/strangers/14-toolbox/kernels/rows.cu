#include "tbx.h"

/* a warp per row; all of these use one shape of code */
#define WARP_SUM(v) do { for (int o_ = 16; o_; o_ >>= 1) v += __shfl_xor_sync(~0u, v, o_); } while (0)
#define ROW_SETUP                                                     \
  const int lane = threadIdx.x & 31;                                  \
  const int64_t row = (int64_t)blockIdx.x * 4 + (threadIdx.x >> 5);   \
  if (row >= rows) return;                                            \
  const float *x = in + row * cols
#define ROW_LAUNCH(k, ...) k<<<(unsigned)((rows + 3) / 4), 128>>>(__VA_ARGS__)

/* mean and unbiased variance in one pass over registers' sums (shifted by the first element) */
__global__ void var_k(const float *in, float *mean, float *var, int rows, int cols) {
  ROW_SETUP;
  const float k = x[0];
  float s = 0, q = 0;
  for (int c = lane; c < cols; c += 32) {
    float d = x[c] - k;
    s += d;
    q += d * d;
  }
  WARP_SUM(s);
  WARP_SUM(q);
  if (lane == 0) {
    mean[row] = k + s / cols;
    var[row] = (q - s * s / cols) / (cols - 1);
  }
}
extern "C" void tbx_var(const float *in, float *mean, float *var, int rows, int cols) { ROW_LAUNCH(var_k, in, mean, var, rows, cols); }

__global__ void l2_normalize_k(const float *in, float *out, int rows, int cols, float eps) {
  ROW_SETUP;
  float q = 0;
  for (int c = lane; c < cols; c += 32) q += x[c] * x[c];
  WARP_SUM(q);
  const float s = 1.0f / fmaxf(sqrtf(q), eps);
  for (int c = lane; c < cols; c += 32) out[row * cols + c] = x[c] * s;
}
extern "C" void tbx_l2_normalize(const float *in, float *out, int rows, int cols, float eps) {
  ROW_LAUNCH(l2_normalize_k, in, out, rows, cols, eps);
}

/* symmetric int8 quantisation, a scale per row */
__global__ void quant_k(const float *in, int8_t *q, float *scale, int rows, int cols) {
  ROW_SETUP;
  float m = 0;
  for (int c = lane; c < cols; c += 32) m = fmaxf(m, fabsf(x[c]));
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  const float inv = m > 0 ? 127.f / m : 0.f;
  for (int c = lane; c < cols; c += 32) q[row * cols + c] = (int8_t)__float2int_rn(x[c] * inv);
  if (lane == 0) scale[row] = m / 127.f;
}
extern "C" void tbx_quantize_rows(const float *in, int8_t *q, float *scale, int rows, int cols) {
  ROW_LAUNCH(quant_k, in, q, scale, rows, cols);
}

__global__ void dequant_k(const char4 *q, const float *scale, float4 *out, int rows, int cols4) {
  TBX_1D(i, (int64_t)rows * cols4);
  const float s = scale[i / cols4];
  const char4 v = q[i];
  out[i] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
}
/* cols must be a multiple of 4 */
extern "C" void tbx_dequantize_rows(const int8_t *q, const float *scale, float *out, int rows, int cols) {
  dequant_k<<<TBX_GRID((int64_t)rows * (cols / 4)), TBX_TPB>>>((const char4 *)q, scale, (float4 *)out, rows, cols / 4);
}
