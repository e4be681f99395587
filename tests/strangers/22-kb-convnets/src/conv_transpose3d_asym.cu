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

// stride 1, no padding: y[n,k,od,oh,ow] = sum x[n,c,od-a,oh-b,ow-e] * w[c,k,a,b,e]
__global__ void deconv3d_kernel(const half* x, const half* w, half* y,
                                int64_t n, int64_t c, int64_t d, int64_t h, int64_t wd,
                                int64_t k, int64_t kd, int64_t kh, int64_t kw) {
  const int64_t od_ = d + kd - 1, oh_ = h + kh - 1, ow_ = wd + kw - 1;
  const int64_t total = n * k * od_ * oh_ * ow_;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < total;
       i += (int64_t)gridDim.x * blockDim.x) {
    int64_t t = i;
    const int64_t ow = t % ow_; t /= ow_;
    const int64_t oh = t % oh_; t /= oh_;
    const int64_t od = t % od_; t /= od_;
    const int64_t ko = t % k;
    const int64_t b = t / k;

    float acc = 0.f;
    for (int64_t ci = 0; ci < c; ci++) {
      const half* xc = x + (b * c + ci) * d * h * wd;
      const half* wc = w + (ci * k + ko) * kd * kh * kw;
      for (int64_t a = 0; a < kd; a++) {
        const int64_t id = od - a;
        if (id < 0 || id >= d) continue;
        for (int64_t r = 0; r < kh; r++) {
          const int64_t ih = oh - r;
          if (ih < 0 || ih >= h) continue;
          for (int64_t s = 0; s < kw; s++) {
            const int64_t iw = ow - s;
            if (iw < 0 || iw >= wd) continue;
            acc += __half2float(xc[(id * h + ih) * wd + iw]) * __half2float(wc[(a * kh + r) * kw + s]);
          }
        }
      }
    }
    y[i] = __float2half(acc);
  }
}

void conv_transpose3d_asym(const half* x, const half* w, half* y,
                           int n, int c, int d, int h, int wd, int k, int kd, int kh, int kw) {
  const int64_t total = (int64_t)n * k * (d + kd - 1) * (h + kh - 1) * (wd + kw - 1);
  const int64_t blocks = (total + 255) / 256;
  deconv3d_kernel<<<(unsigned)(blocks < 32768 ? blocks : 32768), 256>>>(x, w, y, n, c, d, h, wd, k, kd, kh, kw);
  CHECK_LAUNCH();
}
