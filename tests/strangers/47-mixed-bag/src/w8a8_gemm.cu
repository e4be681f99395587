// W8A8 linear layer: int8 x int8 -> int32 by dp4a, then dequantized with a scale per token and a
// scale per output channel.
//     y[m][n] = sx[m] * sw[n] * sum_k x[m][k] * w[n][k] + bias[n]
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#define BM 64
#define BN 64
#define BK 32            // bytes
#define BK4 (BK / 4)     // packed

struct Operand {
  const int8_t* ptr;
  int rows, cols;

  // four consecutive bytes of a row, zero outside
  __device__ int pack(int r, int c) const {
    if (r >= rows || c >= cols) return 0;
    const int8_t* p = ptr + (size_t)r * cols + c;
    if ((cols & 3) == 0) return *reinterpret_cast<const int*>(p);
    uint32_t v = 0;
    for (int i = 0; i < 4; i++)
      if (c + i < cols) v |= (uint32_t)(uint8_t)p[i] << (8 * i);
    return (int)v;
  }
};

__global__ __launch_bounds__(256) void w8a8_kernel(Operand X, Operand Wt, const float* sx, const float* sw,
                                                   const half* bias, half* y) {
  __shared__ int xs[BK4][BM + 1];
  __shared__ int ws[BK4][BN + 1];

  const int tid = threadIdx.x;
  const int tx = tid % 16, ty = tid / 16;
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  int acc[4][4] = {};

  for (int k0 = 0; k0 < X.cols; k0 += BK) {
    for (int i = tid; i < BM * BK4; i += 256) {
      int r = i / BK4, c = i % BK4;
      xs[c][r] = X.pack(m0 + r, k0 + 4 * c);
      ws[c][r] = Wt.pack(n0 + r, k0 + 4 * c);
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < BK4; c++) {
      int a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; i++) { a[i] = xs[c][ty + 16 * i]; b[i] = ws[c][tx + 16 * i]; }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) acc[i][j] = __dp4a(a[i], b[j], acc[i][j]);
    }
    __syncthreads();
  }

  for (int i = 0; i < 4; i++) {
    int m = m0 + ty + 16 * i;
    if (m >= X.rows) continue;
    for (int j = 0; j < 4; j++) {
      int n = n0 + tx + 16 * j;
      if (n < Wt.rows)
        y[(size_t)m * Wt.rows + n] = __float2half(acc[i][j] * sx[m] * sw[n] + __half2float(bias[n]));
    }
  }
}

extern "C" void w8a8_linear(const int8_t* x, const int8_t* w, const float* sx, const float* sw,
                            const half* bias, half* y, int M, int N, int K, cudaStream_t st) {
  Operand X{x, M, K}, W{w, N, K};
  w8a8_kernel<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), 256, 0, st>>>(X, W, sx, sw, bias, y);
}
