#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Transposed convolution: y[N,K,OH,OW] from x[N,C,H,W], w[C,K,R,S] and bias[K]. The taps that meet an output are every
// sh-th from (oh + ph) % sh on, and every sw-th: the loops visit these alone, without a division. Strides of 1 and 2
// are known to the compiler (0: any). A thread has four channels, which share x.
template <int kStrideH, int kStrideW>
__global__ void __launch_bounds__(128)
    conv_transpose2d_kernel(__half* y, const __half* __restrict__ x, const __half* __restrict__ w,
                            const __half* __restrict__ bias, int N, int C, int H, int W, int K, int R, int S,
                            int any_sh, int any_sw, int ph, int pw, int OH, int OW) {
  const int sh = kStrideH ? kStrideH : any_sh, sw = kStrideW ? kStrideW : any_sw;
  int quads = (K + 3) / 4;
  size_t i = (size_t)blockIdx.x * 128 + threadIdx.x;
  if (i >= (size_t)N * quads * OH * OW) return;
  int ow = i % OW, oh = i / OW % OH, k0 = i / ((size_t)OW * OH) % quads * 4, n = i / ((size_t)OW * OH * quads);
  float acc[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) acc[j] = k0 + j < K ? __half2float(bias[k0 + j]) : 0.0f;
  int r0 = (oh + ph) % sh, h0 = (oh + ph) / sh;
  int s0 = (ow + pw) % sw, w0 = (ow + pw) / sw;
  for (int c = 0; c < C; ++c) {
    const __half* plane = x + ((size_t)n * C + c) * H * W;
    const __half* wc = w + ((size_t)c * K + k0) * R * S;
    for (int r = r0, ih = h0; r < R && ih >= 0; r += sh, --ih) {
      if (ih >= H) continue;
      for (int s = s0, iw = w0; s < S && iw >= 0; s += sw, --iw) {
        if (iw >= W) continue;
        float v = __half2float(plane[(size_t)ih * W + iw]);
#pragma unroll
        for (int j = 0; j < 4; ++j)
          if (k0 + j < K) acc[j] += v * __half2float(wc[((size_t)j * R + r) * S + s]);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (k0 + j < K) y[(((size_t)n * K + k0 + j) * OH + oh) * OW + ow] = __float2half(acc[j]);
}

void conv_transpose2d(__half* y, const __half* x, const __half* w, const __half* bias, int N, int C, int H, int W,
                      int K, int R, int S, int sh, int sw, int ph, int pw, cudaStream_t stream) {
  int OH = (H - 1) * sh - 2 * ph + R, OW = (W - 1) * sw - 2 * pw + S;
  if (N <= 0 || K <= 0 || OH <= 0 || OW <= 0) return;
  unsigned blocks = (unsigned)(((size_t)N * ((K + 3) / 4) * OH * OW + 127) / 128);
  if (sh == 1 && sw == 1)
    conv_transpose2d_kernel<1, 1>
        <<<blocks, 128, 0, stream>>>(y, x, w, bias, N, C, H, W, K, R, S, sh, sw, ph, pw, OH, OW);
  else if (sh == 2 && sw == 2)
    conv_transpose2d_kernel<2, 2>
        <<<blocks, 128, 0, stream>>>(y, x, w, bias, N, C, H, W, K, R, S, sh, sw, ph, pw, OH, OW);
  else
    conv_transpose2d_kernel<0, 0>
        <<<blocks, 128, 0, stream>>>(y, x, w, bias, N, C, H, W, K, R, S, sh, sw, ph, pw, OH, OW);
}
