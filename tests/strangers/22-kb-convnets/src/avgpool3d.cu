#include <cstdint>
#include <cuda_runtime.h>

static inline __host__ __device__ int64_t pooled(int64_t extent, int64_t k, int64_t s, int64_t p) {
  return (extent + 2 * p - k) / s + 1;
}

// count_include_pad = true, as PyTorch's default
__global__ void avgpool3d_kernel(const float* x, float* y, int64_t nc, int64_t d, int64_t h, int64_t w,
                                 int64_t k, int64_t s, int64_t p) {
  const int64_t od = pooled(d, k, s, p);
  const int64_t oh = pooled(h, k, s, p);
  const int64_t ow = pooled(w, k, s, p);
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nc * od * oh * ow) return;

  const int64_t z0 = (i / (oh * ow)) % od * s - p;
  const int64_t y0 = (i / ow) % oh * s - p;
  const int64_t x0 = i % ow * s - p;
  const float* xp = x + i / (od * oh * ow) * d * h * w;

  float sum = 0.f;
  for (int64_t a = z0 < 0 ? 0 : z0; a < (z0 + k < d ? z0 + k : d); a++)
    for (int64_t b = y0 < 0 ? 0 : y0; b < (y0 + k < h ? y0 + k : h); b++)
      for (int64_t c = x0 < 0 ? 0 : x0; c < (x0 + k < w ? x0 + k : w); c++)
        sum += xp[(a * h + b) * w + c];
  y[i] = sum / (float)(k * k * k);
}

void avgpool3d(const float* x, float* y, int n, int c, int d, int h, int w, int k, int s, int p) {
  const int64_t total = (int64_t)n * c * pooled(d, k, s, p) * pooled(h, k, s, p) * pooled(w, k, s, p);
  avgpool3d_kernel<<<(unsigned)((total + 255) / 256), 256>>>(x, y, (int64_t)n * c, d, h, w, k, s, p);
}
