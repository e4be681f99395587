#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;


// The convolution as a product without the matrix of patches: pixels (of all images) x taps times taps x channels. A
// block has 64 pixels x 32 channels, a warp 16 pixels; 16 taps at a time are gathered into shared memory.
__global__ void __launch_bounds__(128)
    conv2d_kernel(__half* y, const __half* __restrict__ x, const __half* __restrict__ w, int N, int C, int H, int W,
                  int K, int R, int S, int stride, int pad, int OH, int OW, int channel_tiles) {
  __shared__ __align__(32) __half as[64 * 24];  // [pixel][tap]
  __shared__ __align__(32) __half bs[32 * 24];  // [channel][tap]
  __shared__ __align__(32) float cs[32 * 68];   // [channel][pixel]
  int t = threadIdx.x, warp = t / 32;
  int k0 = blockIdx.x % channel_tiles * 32;
  size_t pixels = (size_t)N * OH * OW, p0 = (size_t)(blockIdx.x / channel_tiles) * 64;
  int taps = C * R * S;

  // A thread gathers for one pixel, every second tap.
  size_t p = p0 + t % 64;
  bool has_pixel = p < pixels;
  int ow = has_pixel ? p % OW : 0, oh = has_pixel ? p / OW % OH : 0, n = has_pixel ? p / ((size_t)OW * OH) : 0;
  int ih0 = oh * stride - pad, iw0 = ow * stride - pad;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
  wmma::fill_fragment(acc[0], 0.0f);
  wmma::fill_fragment(acc[1], 0.0f);
  for (int q0 = 0; q0 < taps; q0 += 16) {
    for (int j = t / 64; j < 16; j += 2) {
      int q = q0 + j;
      __half v = __float2half(0.0f);
      if (has_pixel && q < taps) {
        int s = q % S, r = q / S % R, c = q / (S * R);
        int ih = ih0 + r, iw = iw0 + s;
        if (ih >= 0 && ih < H && iw >= 0 && iw < W) v = x[(((size_t)n * C + c) * H + ih) * W + iw];
      }
      as[t % 64 * 24 + j] = v;
    }
    for (int e = t; e < 32 * 16; e += 128) {
      int k = k0 + e / 16, q = q0 + e % 16;
      bs[e / 16 * 24 + e % 16] = k < K && q < taps ? w[(size_t)k * taps + q] : __float2half(0.0f);
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
    wmma::load_matrix_sync(a, as + warp * 16 * 24, 24);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(b, bs + i * 16 * 24, 24);
      wmma::mma_sync(acc[i], a, b, acc[i]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) wmma::store_matrix_sync(cs + i * 16 * 68 + warp * 16, acc[i], 68, wmma::mem_col_major);
  __syncthreads();
  if (!has_pixel) return;
  for (int j = t / 64; j < 32; j += 2)
    if (k0 + j < K) y[(((size_t)n * K + k0 + j) * OH + oh) * OW + ow] = __float2half(cs[j * 68 + t % 64]);
}

void conv2d(__half* y, const __half* x, const __half* w, int N, int C, int H, int W, int K, int R, int S, int stride,
            int pad, cudaStream_t stream) {
  int OH = (H + 2 * pad - R) / stride + 1, OW = (W + 2 * pad - S) / stride + 1;
  if (N <= 0 || K <= 0 || OH <= 0 || OW <= 0) return;
  size_t pixel_tiles = ((size_t)N * OH * OW + 63) / 64;
  int channel_tiles = (K + 31) / 32;
  conv2d_kernel<<<(unsigned)(pixel_tiles * channel_tiles), 128, 0, stream>>>(y, x, w, N, C, H, W, K, R, S, stride, pad,
                                                                             OH, OW, channel_tiles);
}
