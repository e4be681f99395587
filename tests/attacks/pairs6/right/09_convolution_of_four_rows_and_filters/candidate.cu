#include <cuda_runtime.h>


// Four rows of one column, and four filters, for each thread: 18 inputs serve 144 products. Taps that lie outside are left out,
// not multiplied by zero, so that infinite weights do what they did.
__global__ void __launch_bounds__(128) conv_kernel(float* y, const float* x, const float* w, const float* bias, int C,
                                                   int H, int W, int K, int strips, int quartets, size_t total) {
  size_t t = (size_t)blockIdx.x * 128 + threadIdx.x;
  if (t >= total) return;
  int q = (int)(t % W);
  size_t rest = t / W;
  int p = (int)(rest % strips) * 4;
  rest /= strips;
  int k0 = (int)(rest % quartets) * 4;
  size_t n = rest / quartets;
  float acc[4][4];
  const float* taps[4];
#pragma unroll
  for (int f = 0; f < 4; ++f) {
    int k = k0 + min(f, K - 1 - k0);  // what is behind the last filter is not stored
    taps[f] = w + (size_t)k * C * 9;
#pragma unroll
    for (int i = 0; i < 4; ++i) acc[f][i] = bias[k];
  }
  int below = H - p, right = W - q;  // rows and columns from here on; one before them is there if p > 0, q > 0
  for (int c = 0; c < C; ++c) {
    const float* plane = x + (n * C + c) * (size_t)H * W;
    float v[6][3];
#pragma unroll
    for (int a = 0; a < 6; ++a)
#pragma unroll
      for (int s = 0; s < 3; ++s) {
        bool inside = (a > 0 || p > 0) && a - 1 < below && (s > 0 || q > 0) && s - 1 < right;
        v[a][s] = inside ? plane[(size_t)(p + a - 1) * W + (q + s - 1)] : 0.0f;
      }
#pragma unroll
    for (int f = 0; f < 4; ++f)
#pragma unroll
      for (int r = 0; r < 3; ++r)
#pragma unroll
        for (int s = 0; s < 3; ++s) {
          float tap = taps[f][r * 3 + s];
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            bool inside = (i + r > 0 || p > 0) && i + r - 1 < below && (s > 0 || q > 0) && s - 1 < right;
            if (inside) acc[f][i] += v[i + r][s] * tap;
          }
        }
#pragma unroll
    for (int f = 0; f < 4; ++f) taps[f] += 9;
  }
#pragma unroll
  for (int f = 0; f < 4; ++f)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (f < K - k0 && i < below) y[((n * K + k0 + f) * (size_t)H + p + i) * W + q] = acc[f][i];
}

void conv3x3(float* y, const float* x, const float* w, const float* bias, int N, int C, int H, int W, int K,
             cudaStream_t stream) {
  if (N <= 0 || K <= 0 || H <= 0 || W <= 0) return;
  int strips = H / 4 + (H % 4 != 0), quartets = K / 4 + (K % 4 != 0);
  size_t total = (size_t)N * quartets * strips * W;
  conv_kernel<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(y, x, w, bias, C, H, W, K, strips, quartets, total);
}
