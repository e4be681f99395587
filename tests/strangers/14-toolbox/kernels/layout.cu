#include "tbx.h"

/* permute [a][b][c][d] -> [a][c][b][d], as between heads and tokens */
__global__ void permute0213_k(const float *in, float *out, int a, int b, int c, int d) {
  TBX_1D(i, (int64_t)a * b * c * d);
  int l = i % d, j = i / d % b, k = i / d / b % c, m = i / d / b / c;
  out[i] = in[(((int64_t)m * b + j) * c + k) * d + l];
}
extern "C" void tbx_permute0213(const float *in, float *out, int a, int b, int c, int d) {
  permute0213_k<<<TBX_GRID((int64_t)a * b * c * d), TBX_TPB>>>(in, out, a, b, c, d);
}

/* reflect padding of the last two dimensions; pad smaller than both */
__global__ void pad_reflect_k(const float *in, float *out, int n, int h, int w, int pad) {
  const int oh = h + 2 * pad, ow = w + 2 * pad;
  TBX_1D(i, (int64_t)n * oh * ow);
  int x = abs((int)(i % ow) - pad), y = abs((int)(i / ow % oh) - pad);
  if (x >= w) x = 2 * (w - 1) - x;
  if (y >= h) y = 2 * (h - 1) - y;
  out[i] = in[((int64_t)(i / ow / oh) * h + y) * w + x];
}
extern "C" int tbx_pad_reflect(const float *in, float *out, int n, int h, int w, int pad) {
  if (pad >= h || pad >= w) return 22;
  pad_reflect_k<<<TBX_GRID((int64_t)n * (h + 2 * pad) * (w + 2 * pad)), TBX_TPB>>>(in, out, n, h, w, pad);
  return 0;
}

/* np.roll along the last axis */
__global__ void roll_k(const double *in, double *out, int rows, int cols, int shift) {
  TBX_1D(i, (int64_t)rows * cols);
  int c = i % cols, s = (c - shift) % cols;
  if (s < 0) s += cols;
  out[i] = in[i - c + s];
}
extern "C" void tbx_roll(const double *in, double *out, int rows, int cols, int shift) {
  roll_k<<<TBX_GRID((int64_t)rows * cols), TBX_TPB>>>(in, out, rows, cols, shift);
}
