#include <cuda_fp16.h>
#include <cuda_runtime.h>


// y[N,K,OH,OW] = convolution of x[N,C,H,W] with w[K,C,R,S]; stride 1, padding ph, pw, dilation dh, dw.
__global__ void conv2d_direct(__half* y, const __half* x, const __half* w, int N, int C, int H, int W, int K, int R,
                              int S, int ph, int pw, int dh, int dw, int OH, int OW) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * K * OH * OW) return;
  int ow = i % OW, oh = i / OW % OH, k = i / ((size_t)OW * OH) % K, n = i / ((size_t)OW * OH * K);
  float acc = 0.0f;
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r)
      for (int s = 0; s < S; ++s) {
        int ih = oh - ph + r * dh, iw = ow - pw + s * dw;
        if (ih < 0 || ih >= H || iw < 0 || iw >= W) continue;
        acc += __half2float(x[(((size_t)n * C + c) * H + ih) * W + iw]) *
               __half2float(w[(((size_t)k * C + c) * R + r) * S + s]);
      }
  y[i] = __float2half(acc);
}

// A block computes 8 x 32 pixels of one image for 4 output channels; a plane of the input with its halo is in shared
// memory, and every value that is read from there is used for 4 channels.
__global__ void __launch_bounds__(256)
    conv2d_tile(__half* y, const __half* __restrict__ x, const __half* __restrict__ w, int N, int C, int H, int W,
                int K, int R, int S, int ph, int pw, int dilation, int OH, int OW, int tiles_w, int tiles_h,
                int groups_k) {
  extern __shared__ float plane[];
  int b = blockIdx.x;
  int tw = b % tiles_w, th = b / tiles_w % tiles_h, kg = b / (tiles_w * tiles_h) % groups_k;
  int n = b / (tiles_w * tiles_h * groups_k);
  int rows = 8 + dilation * (R - 1), cols = 32 + dilation * (S - 1);
  int oh0 = th * 8, ow0 = tw * 32, k0 = kg * 4;
  int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
  float acc[4] = {};
  for (int c = 0; c < C; ++c) {
    __syncthreads();
    for (int e = threadIdx.x; e < rows * cols; e += 256) {
      int ih = oh0 - ph + e / cols, iw = ow0 - pw + e % cols;
      plane[e] =
          ih >= 0 && ih < H && iw >= 0 && iw < W ? __half2float(x[(((size_t)n * C + c) * H + ih) * W + iw]) : 0.0f;
    }
    __syncthreads();
    for (int r = 0; r < R; ++r)
      for (int s = 0; s < S; ++s) {
        int ih = oh0 + ty - ph + r * dilation, iw = ow0 + tx - pw + s * dilation;
        if (ih < 0 || ih >= H || iw < 0 || iw >= W) continue;
        float v = plane[(ty + r * dilation) * cols + tx + s * dilation];
#pragma unroll
        for (int j = 0; j < 4; ++j)
          if (k0 + j < K) acc[j] += v * __half2float(w[(((size_t)(k0 + j) * C + c) * R + r) * S + s]);
      }
  }
  if (oh0 + ty >= OH || ow0 + tx >= OW) return;
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (k0 + j < K) y[(((size_t)n * K + k0 + j) * OH + oh0 + ty) * OW + ow0 + tx] = __float2half(acc[j]);
}

void dilated_conv2d(__half* y, const __half* x, const __half* w, int N, int C, int H, int W, int K, int R, int S,
                    int ph, int pw, int dh, int dw, cudaStream_t stream) {
  int OH = H + 2 * ph - dh * (R - 1), OW = W + 2 * pw - dw * (S - 1);
  if (N <= 0 || K <= 0 || OH <= 0 || OW <= 0) return;
  size_t shared = (size_t)(8 + dh * (R - 1)) * (32 + dh * (S - 1)) * sizeof(float);
  if (shared > 48 * 1024) {
    size_t total = (size_t)N * K * OH * OW;
    conv2d_direct<<<(unsigned)((total + 255) / 256), 256, 0, stream>>>(y, x, w, N, C, H, W, K, R, S, ph, pw, dh, dw, OH,
                                                                       OW);
    return;
  }
  int tiles_w = (OW + 31) / 32, tiles_h = (OH + 7) / 8, groups_k = (K + 3) / 4;
  conv2d_tile<<<(unsigned)((size_t)tiles_w * tiles_h * groups_k * N), 256, shared, stream>>>(
      y, x, w, N, C, H, W, K, R, S, ph, pw, dh, OH, OW, tiles_w, tiles_h, groups_k);
}
