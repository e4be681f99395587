#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y[N,K,OH,OW] = convolution of x[N,C,H,W] with w[K,C,R,S]; outside of the image x is zero.
__global__ void conv2d_kernel(__half* y, const __half* x, const __half* w, int N, int C, int H, int W, int K, int R,
                              int S, int stride, int pad, int OH, int OW) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * K * OH * OW) return;
  int ow = i % OW, oh = i / OW % OH, k = i / ((size_t)OW * OH) % K, n = i / ((size_t)OW * OH * K);
  float acc = 0.0f;
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r)
      for (int s = 0; s < S; ++s) {
        int ih = oh * stride - pad + r, iw = ow * stride - pad + s;
        bool inside = ih >= 0 && ih < H && iw >= 0 && iw < W;
        float v = inside ? __half2float(x[(((size_t)n * C + c) * H + ih) * W + iw]) : 0.0f;
        acc += v * __half2float(w[(((size_t)k * C + c) * R + r) * S + s]);
      }
  y[i] = __float2half(acc);
}

void conv2d(__half* y, const __half* x, const __half* w, int N, int C, int H, int W, int K, int R, int S, int stride,
            int pad, cudaStream_t stream) {
  int OH = (H + 2 * pad - R) / stride + 1, OW = (W + 2 * pad - S) / stride + 1;
  if (N <= 0 || K <= 0 || OH <= 0 || OW <= 0) return;
  size_t total = (size_t)N * K * OH * OW;
  conv2d_kernel<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(y, x, w, N, C, H, W, K, R, S, stride, pad, OH, OW);
}
