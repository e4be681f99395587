#include "tbx.h"

/* direct 3D convolution, no padding, stride 1, a filter bank of fixed 3x3x3 in constant-size loops */
constexpr int KD = 3, KH = 3, KW = 3;
__global__ void conv3d_k(const float *in, const float *w, float *out, int ci, int co, int d, int h, int wd) {
  const int od = d - KD + 1, oh = h - KH + 1, ow = wd - KW + 1;
  TBX_1D(i, (int64_t)co * od * oh * ow);
  const int x = i % ow, y = i / ow % oh, z = i / ow / oh % od, o = i / ow / oh / od;
  float s = 0;
  for (int c = 0; c < ci; c++)
    for (int a = 0; a < KD; a++)
      for (int b = 0; b < KH; b++)
#pragma unroll
        for (int e = 0; e < KW; e++)
          s += in[(((int64_t)c * d + z + a) * h + y + b) * wd + x + e] * w[(((o * ci + c) * KD + a) * KH + b) * KW + e];
  out[i] = s;
}
extern "C" void tbx_conv3d(const float *in, const float *w, float *out, int ci, int co, int d, int h, int wd) {
  const int64_t n = (int64_t)co * (d - 2) * (h - 2) * (wd - 2);
  conv3d_k<<<TBX_GRID(n), TBX_TPB>>>(in, w, out, ci, co, d, h, wd);
}

/* adaptive average pooling to oh x ow */
__global__ void adaptive_avg_k(const float *in, float *out, int planes, int h, int w, int oh, int ow) {
  TBX_1D(i, (int64_t)planes * oh * ow);
  const int x = i % ow, y = i / ow % oh;
  const int y0 = y * h / oh, y1 = ((y + 1) * h + oh - 1) / oh, x0 = x * w / ow, x1 = ((x + 1) * w + ow - 1) / ow;
  const float *p = in + (i / ow / oh) * h * w;
  float s = 0;
  for (int r = y0; r < y1; r++)
    for (int c = x0; c < x1; c++) s += p[r * w + c];
  out[i] = s / ((y1 - y0) * (x1 - x0));
}
extern "C" void tbx_adaptive_avg_pool(const float *in, float *out, int planes, int h, int w, int oh, int ow) {
  adaptive_avg_k<<<TBX_GRID((int64_t)planes * oh * ow), TBX_TPB>>>(in, out, planes, h, w, oh, ow);
}
