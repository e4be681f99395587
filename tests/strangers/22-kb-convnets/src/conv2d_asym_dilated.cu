#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define CHECK_LAUNCH()                                                     \
  do {                                                                     \
    cudaError_t err_ = cudaGetLastError();                                 \
    if (err_ != cudaSuccess)                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                   \
              cudaGetErrorString(err_));                                   \
  } while (0)

struct Geometry {
  int64_t n, c, h, w;
  int64_t k, kh, kw;
  int64_t stride_h, stride_w;
  int64_t pad_h, pad_w;
  int64_t dil_h, dil_w;
  int64_t oh, ow;
};

// conv with non-square kernel, padding and dilation; grid-stride over outputs
__global__ void conv2d_asym_kernel(const half* x, const half* w, half* y, Geometry g) {
  const int64_t total = g.n * g.k * g.oh * g.ow;
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
    const int64_t px = i % g.ow;
    const int64_t py = (i / g.ow) % g.oh;
    const int64_t ko = (i / (g.ow * g.oh)) % g.k;
    const int64_t b = i / (g.ow * g.oh * g.k);

    const half* xb = x + b * g.c * g.h * g.w;
    const half* wk = w + ko * g.c * g.kh * g.kw;

    float acc = 0.f;
    for (int64_t c = 0; c < g.c; c++)
      for (int64_t r = 0; r < g.kh; r++)
        for (int64_t s = 0; s < g.kw; s++) {
          const int64_t iy = py * g.stride_h - g.pad_h + r * g.dil_h;
          const int64_t ix = px * g.stride_w - g.pad_w + s * g.dil_w;
          if (iy >= 0 && iy < g.h && ix >= 0 && ix < g.w)
            acc += __half2float(xb[(c * g.h + iy) * g.w + ix]) *
                   __half2float(wk[(c * g.kh + r) * g.kw + s]);
        }
    y[i] = __float2half(acc);
  }
}

void conv2d_asym(const half* x, const half* w, half* y,
                 int n, int c, int h, int wd, int k, int kh, int kw,
                 int stride_h, int stride_w, int pad_h, int pad_w, int dil_h, int dil_w) {
  Geometry g;
  g.n = n; g.c = c; g.h = h; g.w = wd;
  g.k = k; g.kh = kh; g.kw = kw;
  g.stride_h = stride_h; g.stride_w = stride_w;
  g.pad_h = pad_h; g.pad_w = pad_w;
  g.dil_h = dil_h; g.dil_w = dil_w;
  g.oh = (h + 2 * pad_h - dil_h * (kh - 1) - 1) / stride_h + 1;
  g.ow = (wd + 2 * pad_w - dil_w * (kw - 1) - 1) / stride_w + 1;

  const int64_t total = g.n * g.k * g.oh * g.ow;
  int64_t blocks = (total + 127) / 128;
  if (blocks > 65535) blocks = 65535;
  conv2d_asym_kernel<<<(unsigned)blocks, 128>>>(x, w, y, g);
  CHECK_LAUNCH();
}
