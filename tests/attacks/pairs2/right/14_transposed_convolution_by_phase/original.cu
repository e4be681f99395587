#include <cuda_fp16.h>
#include <cuda_runtime.h>


// Transposed convolution, stride 2, kernel 4, padding 1: x [C, H, W], w [C, F, 4, 4], y [F, 2 H, 2 W]; float sums.
__global__ void conv_transpose_kernel(__half* y, const __half* x, const __half* w, int C, int F, int H, int W) {
  int ox = blockIdx.x * blockDim.x + threadIdx.x;
  int oy = blockIdx.y, f = blockIdx.z;
  if (ox >= 2 * W) return;
  float acc = 0.0f;
  for (int c = 0; c < C; ++c)
    for (int ky = 0; ky < 4; ++ky) {
      int sy = oy + 1 - ky;
      if (sy < 0 || sy % 2 || sy / 2 >= H) continue;
      for (int kx = 0; kx < 4; ++kx) {
        int sx = ox + 1 - kx;
        if (sx < 0 || sx % 2 || sx / 2 >= W) continue;
        acc += __half2float(x[((size_t)c * H + sy / 2) * W + sx / 2]) * __half2float(w[((c * F + f) * 4 + ky) * 4 + kx]);
      }
    }
  y[((size_t)f * 2 * H + oy) * 2 * W + ox] = __float2half(acc);
}

void conv_transpose_f16(__half* y, const __half* x, const __half* w, int C, int F, int H, int W, cudaStream_t stream) {
  conv_transpose_kernel<<<dim3((2 * W + 63) / 64, 2 * H, F), 64, 0, stream>>>(y, x, w, C, F, H, W);
}
