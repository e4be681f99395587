#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Transposed convolution: y[N,K,OH,OW] from x[N,C,H,W], w[C,K,R,S] and bias[K];
// OH = (H - 1) * sh - 2 * ph + R, OW = (W - 1) * sw - 2 * pw + S.
__global__ void conv_transpose2d_kernel(__half* y, const __half* x, const __half* w, const __half* bias, int N, int C,
                                        int H, int W, int K, int R, int S, int sh, int sw, int ph, int pw, int OH,
                                        int OW) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * K * OH * OW) return;
  int ow = i % OW, oh = i / OW % OH, k = i / ((size_t)OW * OH) % K, n = i / ((size_t)OW * OH * K);
  float acc = __half2float(bias[k]);
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r)
      for (int s = 0; s < S; ++s) {
        int ih = oh + ph - r, iw = ow + pw - s;
        if (ih < 0 || iw < 0 || ih % sh != 0 || iw % sw != 0) continue;
        ih /= sh;
        iw /= sw;
        if (ih >= H || iw >= W) continue;
        acc += __half2float(x[(((size_t)n * C + c) * H + ih) * W + iw]) *
               __half2float(w[(((size_t)c * K + k) * R + r) * S + s]);
      }
  y[i] = __float2half(acc);
}

void conv_transpose2d(__half* y, const __half* x, const __half* w, const __half* bias, int N, int C, int H, int W,
                      int K, int R, int S, int sh, int sw, int ph, int pw, cudaStream_t stream) {
  int OH = (H - 1) * sh - 2 * ph + R, OW = (W - 1) * sw - 2 * pw + S;
  if (N <= 0 || K <= 0 || OH <= 0 || OW <= 0) return;
  size_t total = (size_t)N * K * OH * OW;
  conv_transpose2d_kernel<<<(unsigned)((total + 127) / 128), 128, 0, stream>>>(y, x, w, bias, N, C, H, W, K, R, S, sh,
                                                                               sw, ph, pw, OH, OW);
}
