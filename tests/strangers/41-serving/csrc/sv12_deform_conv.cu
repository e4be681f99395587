// Modulated deformable convolution (DCNv2), one offset group: columns by bilinear sampling, then a tiled product.
//   x: [N][C][H][W]   offset: [N][2 * R * R][OH][OW], dy and dx alternating   mask: [N][R * R][OH][OW]
//   w: [O][C * R * R]   columns: [N][C * R * R][OH * OW] workspace   y: [N][O][OH * OW]
#include "common.cuh"

static __device__ float bilinear(const float* plane, int H, int W, float y, float x) {
  if (y <= -1.f || y >= H || x <= -1.f || x >= W) return 0.f;
  const int y0 = (int)floorf(y), x0 = (int)floorf(x);
  const float fy = y - y0, fx = x - x0;
  float v = 0.f;
  if (y0 >= 0 && x0 >= 0) v += (1.f - fy) * (1.f - fx) * plane[y0 * W + x0];
  if (y0 >= 0 && x0 + 1 < W) v += (1.f - fy) * fx * plane[y0 * W + x0 + 1];
  if (y0 + 1 < H && x0 >= 0) v += fy * (1.f - fx) * plane[(y0 + 1) * W + x0];
  if (y0 + 1 < H && x0 + 1 < W) v += fy * fx * plane[(y0 + 1) * W + x0 + 1];
  return v;
}

__global__ void deform_columns(const float* __restrict__ x, const float* __restrict__ offset, const float* __restrict__ mask,
                               float* __restrict__ columns, int C, int H, int W, int R, int OH, int OW, int stride, int pad) {
  const int P = OH * OW;
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  const int c = blockIdx.y;
  const int n = blockIdx.z;
  if (p >= P) return;
  const int oy = p / OW, ox = p - oy * OW;
  const float* plane = x + ((size_t)n * C + c) * H * W;
  const float* off = offset + (size_t)n * 2 * R * R * P + p;
  const float* mod = mask + (size_t)n * R * R * P + p;
  float* col = columns + ((size_t)n * C + c) * R * R * P + p;

  for (int i = 0; i < R; ++i) {
    for (int j = 0; j < R; ++j) {
      const int k = i * R + j;
      const float sy = oy * stride - pad + i + off[(size_t)(2 * k) * P];
      const float sx = ox * stride - pad + j + off[(size_t)(2 * k + 1) * P];
      col[(size_t)k * P] = bilinear(plane, H, W, sy, sx) * mod[(size_t)k * P];
    }
  }
}

// y[n] = w * columns[n] + bias; 32 x 32 outputs per block, four rows of one column per thread
template <int TILE, int ROWS>
__global__ void columns_product(const float* __restrict__ w, const float* __restrict__ columns, const float* __restrict__ bias,
                                float* __restrict__ y, int O, int K, int P) {
  __shared__ float ws[TILE][TILE];
  __shared__ float cs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int p = blockIdx.x * TILE + tx;
  const int o0 = blockIdx.y * TILE;
  columns += (size_t)blockIdx.z * K * P;
  y += (size_t)blockIdx.z * O * P;

  float acc[ROWS] = {};
  for (int k0 = 0; k0 < K; k0 += TILE) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int row = ty + r * (TILE / ROWS);
      ws[row][tx] = o0 + row < O && k0 + tx < K ? w[(size_t)(o0 + row) * K + k0 + tx] : 0.f;
      cs[row][tx] = k0 + row < K && p < P ? columns[(size_t)(k0 + row) * P + p] : 0.f;
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < TILE; ++k) {
      const float v = cs[k][tx];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) acc[r] += ws[ty + r * (TILE / ROWS)][k] * v;
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int o = o0 + ty + r * (TILE / ROWS);
    if (o < O && p < P) y[(size_t)o * P + p] = acc[r] + bias[o];
  }
}

extern "C" int deform_conv(const float* x, const float* offset, const float* mask, const float* w, const float* bias, float* columns,
                           float* y, int N, int C, int H, int W, int O, int R, int stride, int pad) {
  if (H + 2 * pad < R || W + 2 * pad < R) return -1;
  const int OH = (H + 2 * pad - R) / stride + 1;
  const int OW = (W + 2 * pad - R) / stride + 1;
  const int P = OH * OW;
  deform_columns<<<dim3(CEIL_DIV(P, 128), C, N), 128>>>(x, offset, mask, columns, C, H, W, R, OH, OW, stride, pad);
  columns_product<32, 4><<<dim3(CEIL_DIV(P, 32), CEIL_DIV(O, 32), N), dim3(32, 8)>>>(w, columns, bias, y, O, C * R * R, P);
  return cudaGetLastError() == cudaSuccess ? 0 : -2;
}
