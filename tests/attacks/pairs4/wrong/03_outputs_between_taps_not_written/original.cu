#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Transposed convolution: y[B,K,LO] from x[B,C,L], w[C,K,R] and bias[K]; LO = (L - 1) * stride + R - 2 * pad + extra.
__global__ void conv_transpose1d_kernel(__half* y, const __half* x, const __half* w, const __half* bias, int C, int L,
                                        int K, int R, int stride, int pad, int LO) {
  int o = blockIdx.x * blockDim.x + threadIdx.x;
  int k = blockIdx.y, b = blockIdx.z;
  if (o >= LO) return;
  float acc = __half2float(bias[k]);
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r) {
      int t = o + pad - r;
      if (t < 0 || t % stride != 0 || t / stride >= L) continue;
      acc += __half2float(x[((size_t)b * C + c) * L + t / stride]) * __half2float(w[((size_t)c * K + k) * R + r]);
    }
  y[((size_t)b * K + k) * LO + o] = __float2half(acc);
}

void conv_transpose1d(__half* y, const __half* x, const __half* w, const __half* bias, int B, int C, int L, int K,
                      int R, int stride, int pad, int extra, cudaStream_t stream) {
  int LO = (L - 1) * stride + R - 2 * pad + extra;
  if (B <= 0 || K <= 0 || L <= 0 || LO <= 0) return;
  conv_transpose1d_kernel<<<dim3((LO + 127) / 128, K, B), 128, 0, stream>>>(y, x, w, bias, C, L, K, R, stride, pad, LO);
}
