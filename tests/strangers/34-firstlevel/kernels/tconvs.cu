// Transposed convolutions in gather form: every output asks which inputs reach it.
#include "common.cuh"

struct Axis {
  int in, out, k, stride, pad;
};

static Axis make_axis(int in, int k, int stride, int pad, int out_pad)
{
  return {in, (in - 1) * stride - 2 * pad + k + out_pad, k, stride, pad};
}

// input position for output o under tap t, or -1
static __device__ __forceinline__ int source(const Axis& ax, int o, int t)
{
  int p = o + ax.pad - t;
  if (p < 0 || p % ax.stride) return -1;
  p /= ax.stride;
  return p < ax.in ? p : -1;
}

__global__ void convtr2d_kernel(const __half* x, const __half* w, const __half* bias, __half* y, int N, int G, int Cg, int Kg, Axis h,
                                Axis v)
{
  i64 id = flat_index();
  if (id >= (i64)N * G * Kg * h.out * v.out) return;
  i64 rest = id;
  const int ox = peel(rest, v.out), oy = peel(rest, h.out), kg = peel(rest, Kg), g = peel(rest, G);
  const int n = (int)rest;

  float acc = __half2float(bias[g * Kg + kg]);
  for (int a = 0; a < h.k; a++) {
    const int iy = source(h, oy, a);
    if (iy < 0) continue;
    for (int b = 0; b < v.k; b++) {
      const int ix = source(v, ox, b);
      if (ix < 0) continue;
      for (int c = 0; c < Cg; c++) {
        const int ci = g * Cg + c;
        acc += __half2float(x[(((i64)n * G * Cg + ci) * h.in + iy) * v.in + ix]) * __half2float(w[((ci * Kg + kg) * h.k + a) * v.k + b]);
      }
    }
  }
  y[id] = __float2half(acc);
}

void convtr2d_grouped(const __half* x, const __half* w, const __half* bias, __half* y, int N, int G, int Cg, int Kg, int H, int W, int kh,
                      int kw, int sh, int sw, int ph, int pw, int oph, int opw, cudaStream_t stream)
{
  const Axis ah = make_axis(H, kh, sh, ph, oph), aw = make_axis(W, kw, sw, pw, opw);
  const i64 n = (i64)N * G * Kg * ah.out * aw.out;
  convtr2d_kernel<<<BLOCKS_FOR(n, 256), 256, 0, stream>>>(x, w, bias, y, N, G, Cg, Kg, ah, aw);
}

// 3D, 3 x 3 x 3, stride 2, padding 1, output padding 1: doubles every axis
__global__ void convtr3d_double_kernel(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int N, int Ci,
                                       int Co, int D, int H, int W)
{
  const int OD = 2 * D, OH = 2 * H, OW = 2 * W;
  i64 id = flat_index();
  if (id >= (i64)N * Co * OD * OH * OW) return;
  i64 rest = id;
  const int ow = peel(rest, OW), oh = peel(rest, OH), od = peel(rest, OD), co = peel(rest, Co), n = (int)rest;

  float acc = 0.f;
  for (int ci = 0; ci < Ci; ++ci) {
    const float* vol = x + ((i64)n * Ci + ci) * D * H * W;
    const float* f = w + (ci * Co + co) * 27;
    for (int a = 0; a < 3; ++a) {
      int d = od + 1 - a;
      if (d < 0 || (d & 1) || d / 2 >= D) continue;
      for (int b = 0; b < 3; ++b) {
        int h = oh + 1 - b;
        if (h < 0 || (h & 1) || h / 2 >= H) continue;
        for (int c = 0; c < 3; ++c) {
          int v = ow + 1 - c;
          if (v < 0 || (v & 1) || v / 2 >= W) continue;
          acc += vol[((d / 2) * H + h / 2) * W + v / 2] * f[(a * 3 + b) * 3 + c];
        }
      }
    }
  }
  y[id] = acc;
}

void convtr3d_double(const float* x, const float* w, float* y, int N, int Ci, int Co, int D, int H, int W, cudaStream_t stream)
{
  const i64 n = (i64)N * Co * D * H * W * 8;
  convtr3d_double_kernel<<<BLOCKS_FOR(n, 128), 128, 0, stream>>>(x, w, y, N, Ci, Co, D, H, W);
}
