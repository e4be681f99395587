#include "common.cuh"

// ------------------------------------------------------------------ conv1d: stride and dilation, no padding, no bias
__global__ void conv1d_kernel(const __half* x, const __half* w, __half* y, int N, int Ci, int Co, int L, int K, int stride, int dil,
                              int Lout)
{
  i64 id = flat_index();
  if (id >= (i64)N * Co * Lout) return;
  i64 rest = id;
  const int o = peel(rest, Lout), co = peel(rest, Co), n = (int)rest;

  float acc = 0.0f;
  for (int ci = 0; ci < Ci; ci++)
    for (int k = 0; k < K; k++)
      acc += __half2float(x[((i64)n * Ci + ci) * L + o * stride + k * dil]) * __half2float(w[(co * Ci + ci) * K + k]);
  y[id] = __float2half_rn(acc);
}

void conv1d_strided_dilated(const __half* x, const __half* w, __half* y, int N, int Ci, int Co, int L, int K, int stride, int dil,
                            cudaStream_t stream)
{
  const int Lout = (L - (K - 1) * dil - 1) / stride + 1;
  conv1d_kernel<<<BLOCKS_FOR((i64)N * Co * Lout, 256), 256, 0, stream>>>(x, w, y, N, Ci, Co, L, K, stride, dil, Lout);
}

// ------------------------------------------------------------------ conv2d: KH x KW, "same", halo tile in shared memory
// 32 x 8 pixels by OC output channels for each block. The filter of the current input channel sits in shared memory too.
template <int KH, int KW, int OC>
__global__ void conv2d_halo(const bf16* __restrict__ x, const bf16* __restrict__ w, bf16* __restrict__ y, int C, int Co, int H, int W)
{
  constexpr int BX = 32, BY = 8, TW = BX + KW - 1, TH = BY + KH - 1;
  __shared__ float tile[TH][TW];
  __shared__ float filt[OC][KH * KW];

  const int groups = (Co + OC - 1) / OC;
  const int n = blockIdx.z / groups, oc0 = (blockIdx.z % groups) * OC;
  const int ox = blockIdx.x * BX + threadIdx.x, oy = blockIdx.y * BY + threadIdx.y;
  const int lane = threadIdx.y * BX + threadIdx.x;
  const int top = blockIdx.y * BY - KH / 2, left = blockIdx.x * BX - KW / 2;

  float acc[OC] = {};
  for (int c = 0; c < C; ++c) {
    const bf16* plane = x + ((size_t)n * C + c) * H * W;
    for (int e = lane; e < TH * TW; e += BX * BY) {
      int iy = top + e / TW, ix = left + e % TW;
      bool inside = iy >= 0 && iy < H && ix >= 0 && ix < W;
      tile[e / TW][e % TW] = inside ? __bfloat162float(plane[(size_t)iy * W + ix]) : 0.f;
    }
    for (int e = lane; e < OC * KH * KW; e += BX * BY) {
      int oc = oc0 + e / (KH * KW);
      filt[e / (KH * KW)][e % (KH * KW)] = oc < Co ? __bfloat162float(w[((size_t)oc * C + c) * (KH * KW) + e % (KH * KW)]) : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int a = 0; a < KH; ++a)
#pragma unroll
      for (int b = 0; b < KW; ++b) {
        float v = tile[threadIdx.y + a][threadIdx.x + b];
#pragma unroll
        for (int q = 0; q < OC; ++q) acc[q] += v * filt[q][a * KW + b];
      }
    __syncthreads();
  }
  if (ox >= W || oy >= H) return;
#pragma unroll
  for (int q = 0; q < OC; ++q)
    if (oc0 + q < Co) y[(((size_t)n * Co + oc0 + q) * H + oy) * W + ox] = __float2bfloat16(acc[q]);
}

void conv2d_5x3_same(const bf16* x, const bf16* w, bf16* y, int N, int C, int Co, int H, int W, cudaStream_t stream)
{
  constexpr int OC = 4;
  dim3 grid(BLOCKS_FOR(W, 32), BLOCKS_FOR(H, 8), N * BLOCKS_FOR(Co, OC));
  conv2d_halo<5, 3, OC><<<grid, dim3(32, 8), 0, stream>>>(x, w, y, C, Co, H, W);
}

// ------------------------------------------------------------------ depthwise 1 x 7 along W, channels last, two at a time
__global__ void dw1x7_nhwc(const __half2* __restrict__ x, const __half2* __restrict__ w, const __half2* __restrict__ bias,
                           __half2* __restrict__ y, i64 total, int W, int C2, int dil)
{
  i64 id = flat_index();
  if (id >= total) return;
  i64 rest = id;
  const int c = peel(rest, C2);
  const int col = peel(rest, W);
  const __half2* line = x + rest * W * C2 + c;   // rest: image and row

  float2 acc = __half22float2(bias[c]);
#pragma unroll
  for (int k = 0; k < 7; ++k) {
    int xx = col + (k - 3) * dil;
    if (xx < 0 || xx >= W) continue;
    float2 v = __half22float2(line[(i64)xx * C2]);
    float2 f = __half22float2(w[k * C2 + c]);
    acc.x = fmaf(v.x, f.x, acc.x);
    acc.y = fmaf(v.y, f.y, acc.y);
  }
  y[id] = __float22half2_rn(acc);
}

void depthwise_1x7_nhwc(const __half2* x, const __half2* w, const __half2* bias, __half2* y, int N, int H, int W, int C2, int dil,
                        cudaStream_t stream)
{
  i64 total = (i64)N * H * W * C2;
  dw1x7_nhwc<<<BLOCKS_FOR(total, 192), 192, 0, stream>>>(x, w, bias, y, total, W, C2, dil);
}
