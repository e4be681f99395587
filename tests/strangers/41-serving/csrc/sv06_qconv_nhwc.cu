// Quantized 2D convolution, channels last and padded to fours, symmetric weights and inputs, scales per output channel:
//
//   y = clamp(round((sum x * w + bias[o]) * scale[o]) + zero, low, 127)       low = zero for a fused relu, else -128
//
//   x: [N][H][W][C4] of char4    w: [O][R][R][C4] of char4    y: [N][OH][OW][O]
//
// 32 output channels x 8 pixels per block; the weights of a window position go through shared memory, 32 fours at a time.
#include <cuda_runtime.h>
#include <stdint.h>

namespace serving {

constexpr int kChannels = 32;
constexpr int kPixels = 8;
constexpr int kStep = 32;

struct ConvShape {
  int N, H, W, C4, O, R, OH, OW, stride, pad;
};

__global__ void __launch_bounds__(kChannels* kPixels)
    qconv_kernel(const char4* __restrict__ x, const char4* __restrict__ w, const int* __restrict__ bias,
                 const float* __restrict__ scale, int8_t* __restrict__ y, ConvShape p, int zero, int low) {
  __shared__ char4 ws[kStep][kChannels + 1];

  const int o0 = blockIdx.y * kChannels;
  const int o = o0 + threadIdx.x;
  const int pixel = blockIdx.x * kPixels + threadIdx.y;
  const int n = pixel / (p.OH * p.OW);
  const int oh = pixel / p.OW % p.OH;
  const int ow = pixel % p.OW;

  int acc = 0;
  for (int r = 0; r < p.R; ++r) {
    const int h = oh * p.stride - p.pad + r;
    for (int s = 0; s < p.R; ++s) {
      const int v = ow * p.stride - p.pad + s;
      const bool inside = n < p.N && h >= 0 && h < p.H && v >= 0 && v < p.W;
      const char4* row = x + (inside ? (((size_t)n * p.H + h) * p.W + v) * p.C4 : 0);

      for (int c0 = 0; c0 < p.C4; c0 += kStep) {
        for (int i = threadIdx.y; i < kChannels; i += kPixels) {
          const int c = c0 + threadIdx.x;
          ws[threadIdx.x][i] = o0 + i < p.O && c < p.C4 ? w[(((size_t)(o0 + i) * p.R + r) * p.R + s) * p.C4 + c] : make_char4(0, 0, 0, 0);
        }
        __syncthreads();
        if (inside) {
          const int steps = min(kStep, p.C4 - c0);
          for (int i = 0; i < steps; ++i) acc = __dp4a(row[c0 + i], ws[i][threadIdx.x], acc);
        }
        __syncthreads();
      }
    }
  }

  if (n < p.N && o < p.O) {
    const int q = __float2int_rn((float)(acc + bias[o]) * scale[o]);
    y[(size_t)pixel * p.O + o] = (int8_t)(max(low - zero, min(127 - zero, q)) + zero);
  }
}

}  // namespace serving

int qconv_nhwc(const char4* x, const char4* w, const int* bias, const float* scale, int8_t* y, int N, int H, int W, int C4, int O,
               int R, int stride, int pad, int zero, bool relu, cudaStream_t stream) {
  using namespace serving;
  if (H + 2 * pad < R || W + 2 * pad < R) return 1;
  const ConvShape p{N, H, W, C4, O, R, (H + 2 * pad - R) / stride + 1, (W + 2 * pad - R) / stride + 1, stride, pad};
  const dim3 grid((N * p.OH * p.OW + kPixels - 1) / kPixels, (O + kChannels - 1) / kChannels);
  qconv_kernel<<<grid, dim3(kChannels, kPixels), 0, stream>>>(x, w, bias, scale, y, p, zero, relu ? zero : -128);
  return cudaGetLastError() == cudaSuccess ? 0 : 2;
}
