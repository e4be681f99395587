#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Transposed convolution: y[B,K,LO] from x[B,C,L], w[C,K,R] and bias[K]; LO = (L - 1) * stride + R - 2 * pad + extra.
// blockIdx.x covers one phase of the outputs after the other: those with o + pad = q * stride + phase meet the taps
// phase, phase + stride, ... alone, so that no division is left in the loop and neighbouring threads take one path.
__global__ void conv_transpose1d_kernel(__half* y, const __half* __restrict__ x, const __half* __restrict__ w,
                                        const __half* __restrict__ bias, int C, int L, int K, int R, int stride,
                                        int pad, int LO, int blocks) {
  int phase = blockIdx.x / blocks;
  int q = blockIdx.x % blocks * blockDim.x + threadIdx.x;
  int k = blockIdx.y, b = blockIdx.z;
  int o = q * stride + phase - pad;
  if (o < 0 || o >= LO) return;
  float acc = __half2float(bias[k]);
  const __half* xb = x + (size_t)b * C * L;
  for (int c = 0; c < C; ++c) {
    const __half* wk = w + ((size_t)c * K + k) * R;
    for (int r = phase, i = q; r < R && i >= 0; r += stride, --i)
      if (i < L) acc += __half2float(xb[(size_t)c * L + i]) * __half2float(wk[r]);
  }
  y[((size_t)b * K + k) * LO + o] = __float2half(acc);
}

void conv_transpose1d(__half* y, const __half* x, const __half* w, const __half* bias, int B, int C, int L, int K,
                      int R, int stride, int pad, int extra, cudaStream_t stream) {
  int LO = (L - 1) * stride + R - 2 * pad + extra;
  if (B <= 0 || K <= 0 || L <= 0 || LO <= 0) return;
  int phases = stride < R ? stride : R;  // no tap falls into the others
  int blocks = ((LO + pad + stride - 1) / stride + 127) / 128;
  conv_transpose1d_kernel<<<dim3(blocks * phases, K, B), 128, 0, stream>>>(y, x, w, bias, C, L, K, R, stride, pad, LO,
                                                                           blocks);
}
