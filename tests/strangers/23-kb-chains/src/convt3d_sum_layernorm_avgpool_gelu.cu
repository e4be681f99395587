#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define CUDA_CHECK(expr)                                                                  \
  do {                                                                                    \
    cudaError_t status_ = (expr);                                                         \
    if (status_ != cudaSuccess) {                                                         \
      fprintf(stderr, "CUDA error %s at %s:%d\n", cudaGetErrorString(status_), __FILE__, __LINE__); \
      abort();                                                                            \
    }                                                                                     \
  } while (0)

// ConvTranspose3d(k = 3, stride 2, padding 1, output padding 1) + scalar
__global__ void convt3d_sum_kernel(const half* x, const half* w, const half* b, float* t, float add,
                                   int64_t n, int64_t c, int64_t d, int64_t h, int64_t wd, int64_t k) {
  const int64_t od = 2 * d, oh = 2 * h, ow = 2 * wd;
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * k * od * oh * ow) return;

  const int64_t px = i % ow;
  const int64_t py = i / ow % oh;
  const int64_t pz = i / (ow * oh) % od;
  const int64_t ko = i / (ow * oh * od) % k;
  const int64_t bi = i / (ow * oh * od * k);

  float acc = __half2float(b[ko]);
  for (int64_t ci = 0; ci < c; ci++) {
    for (int a = 0; a < 3; a++) {
      const int64_t z = pz + 1 - a;
      if (z < 0 || z % 2 != 0 || z / 2 >= d) continue;
      for (int r = 0; r < 3; r++) {
        const int64_t y = py + 1 - r;
        if (y < 0 || y % 2 != 0 || y / 2 >= h) continue;
        for (int s = 0; s < 3; s++) {
          const int64_t xx = px + 1 - s;
          if (xx < 0 || xx % 2 != 0 || xx / 2 >= wd) continue;
          acc += __half2float(x[(((bi * c + ci) * d + z / 2) * h + y / 2) * wd + xx / 2]) *
                 __half2float(w[(((ci * k + ko) * 3 + a) * 3 + r) * 3 + s]);
        }
      }
    }
  }
  t[i] = acc + add;
}

// LayerNorm over the last axis, in place, one warp per row
__global__ void layernorm_kernel(float* t, const half* gamma, const half* beta, int64_t rows, int64_t len, float eps) {
  const int64_t row = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float* p = t + row * len;

  float sum = 0.f;
  for (int64_t j = threadIdx.x; j < len; j += 32) sum += p[j];
  for (int m = 16; m > 0; m >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, m);
  const float mean = sum / (float)len;

  float sq = 0.f;
  for (int64_t j = threadIdx.x; j < len; j += 32) sq += (p[j] - mean) * (p[j] - mean);
  for (int m = 16; m > 0; m >>= 1) sq += __shfl_xor_sync(0xffffffffu, sq, m);
  const float rstd = 1.f / sqrtf(sq / (float)len + eps);

  for (int64_t j = threadIdx.x; j < len; j += 32)
    p[j] = (p[j] - mean) * rstd * __half2float(gamma[j]) + __half2float(beta[j]);
}

// AvgPool3d(2) + GELU
__global__ void avgpool_gelu_kernel(const float* t, half* y, int64_t nk, int64_t d, int64_t h, int64_t w) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nk * d * h * w) return;
  const int64_t px = i % w;
  const int64_t py = i / w % h;
  const int64_t pz = i / (w * h) % d;
  const int64_t plane = i / (w * h * d);

  float sum = 0.f;
  for (int a = 0; a < 2; a++)
    for (int r = 0; r < 2; r++)
      for (int s = 0; s < 2; s++)
        sum += t[((plane * 2 * d + 2 * pz + a) * 2 * h + 2 * py + r) * 2 * w + 2 * px + s];
  const float v = sum / 8.f;
  y[i] = __float2half(v * 0.5f * (1.f + erff(v * (float)0.7071067811865475)));
}

void convt3d_sum_layernorm_avgpool_gelu(const half* x, const half* w, const half* b, const half* gamma,
                                        const half* beta, float* t, half* y,
                                        int n, int c, int d, int h, int wd, int k, float add, float eps) {
  const int64_t rows = (int64_t)n * k * 2 * d * 2 * h;
  const int64_t total = rows * 2 * wd;
  convt3d_sum_kernel<<<(unsigned)((total + 255) / 256), 256>>>(x, w, b, t, add, n, c, d, h, wd, k);
  CUDA_CHECK(cudaGetLastError());
  layernorm_kernel<<<(unsigned)((rows + 7) / 8), dim3(32, 8)>>>(t, gamma, beta, rows, 2 * wd, eps);
  CUDA_CHECK(cudaGetLastError());
  const int64_t pooled = total / 8;
  avgpool_gelu_kernel<<<(unsigned)((pooled + 255) / 256), 256>>>(t, y, (int64_t)n * k, d, h, wd);
  CUDA_CHECK(cudaGetLastError());
}
