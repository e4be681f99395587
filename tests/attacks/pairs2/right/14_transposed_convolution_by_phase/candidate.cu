#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Transposed convolution, stride 2, kernel 4, padding 1: x [C, H, W], w [C, F, 4, 4], y [F, 2 H, 2 W]; float sums.
__global__ void conv_transpose_kernel(__half* y, const __half* x, const __half* w, int C, int F, int H, int W) {
  int ox = blockIdx.x * blockDim.x + threadIdx.x;
  int oy = blockIdx.y, f = blockIdx.z;
  if (ox >= 2 * W) return;
  // Of four taps in a direction two meet an input: those of the parity of o + 1, at i0 and i0 - 1.
  int ky0 = (oy + 1) & 1, kx0 = (ox + 1) & 1;
  int iy0 = (oy + 1 - ky0) >> 1, ix0 = (ox + 1 - kx0) >> 1;
  bool row[2] = {iy0 < H, iy0 >= 1}, column[2] = {ix0 < W, ix0 >= 1};
  float acc = 0.0f;
  for (int c = 0; c < C; ++c) {
    const __half* plane = x + (size_t)c * H * W;
    const __half* taps = w + (size_t)(c * F + f) * 16;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      if (!row[j]) continue;
#pragma unroll
      for (int i = 0; i < 2; ++i)
        if (column[i])
          acc += __half2float(plane[(iy0 - j) * W + ix0 - i]) * __half2float(taps[(ky0 + 2 * j) * 4 + kx0 + 2 * i]);
    }
  }
  y[((size_t)f * 2 * H + oy) * 2 * W + ox] = __float2half(acc);
}

void conv_transpose_f16(__half* y, const __half* x, const __half* w, int C, int F, int H, int W, cudaStream_t stream) {
  conv_transpose_kernel<<<dim3((2 * W + 63) / 64, 2 * H, F), 64, 0, stream>>>(y, x, w, C, F, H, W);
}
