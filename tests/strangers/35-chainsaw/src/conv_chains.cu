#include "saw.h"

// ============ conv 3x3 (valid) + bias -> gelu -> max pool 2x2 -> batch norm with the statistics of the batch ============

__global__ void conv3_bias_gelu(const h16* x, const h16* w, const float* bias, h16* y, int N, int C, int H, int W, int K)
{
  const int OH = H - 2, OW = W - 2;
  const int ow = blockIdx.x * blockDim.x + threadIdx.x;
  const int oh = blockIdx.y * blockDim.y + threadIdx.y;
  const int n = blockIdx.z / K, k = blockIdx.z % K;
  if (ow >= OW || oh >= OH) return;
  float s = bias[k];
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < 3; ++r)
      for (int q = 0; q < 3; ++q)
        s += ld(&x[(((size_t)n * C + c) * H + oh + r) * W + ow + q]) * ld(&w[((k * C + c) * 3 + r) * 3 + q]);
  st(&y[(((size_t)n * K + k) * OH + oh) * OW + ow], gelu_erf(s));
}

__global__ void maxpool2(const h16* x, h16* y, int planes, int H, int W)
{
  const int PH = H / 2, PW = W / 2;
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)planes * PH * PW) return;
  const int pw = i % PW, ph = (i / PW) % PH;
  const h16* p = x + (i / ((size_t)PW * PH)) * H * W + (size_t)2 * ph * W + 2 * pw;
  y[i] = __hmax(__hmax(p[0], p[1]), __hmax(p[W], p[W + 1]));
}

// a block for a channel: two passes for mean and variance, a third one writes
__global__ void batchnorm_inplace(h16* y, const float* gamma, const float* beta, int N, int K, int P, float eps)
{
  const int k = blockIdx.x;
  const float count = (float)N * P;
  float s = 0.f;
  for (int i = threadIdx.x; i < N * P; i += blockDim.x) s += ld(&y[((size_t)(i / P) * K + k) * P + i % P]);
  const float mean = block_all<Sum>(s) / count;
  s = 0.f;
  for (int i = threadIdx.x; i < N * P; i += blockDim.x) {
    float d = ld(&y[((size_t)(i / P) * K + k) * P + i % P]) - mean;
    s += d * d;
  }
  const float a = gamma[k] * rsqrtf(block_all<Sum>(s) / count + eps);
  for (int i = threadIdx.x; i < N * P; i += blockDim.x) {
    h16* p = &y[((size_t)(i / P) * K + k) * P + i % P];
    st(p, (ld(p) - mean) * a + beta[k]);
  }
}

void conv_gelu_maxpool_batchnorm(const h16* x, const h16* w, const float* bias, const float* gamma, const float* beta, h16* act, h16* y,
                                 int N, int C, int H, int W, int K, float eps, cudaStream_t st)
{
  const int OH = H - 2, OW = W - 2, P = (OH / 2) * (OW / 2);
  conv3_bias_gelu<<<dim3(DIV_UP(OW, 32), DIV_UP(OH, 4), N * K), dim3(32, 4), 0, st>>>(x, w, bias, act, N, C, H, W, K);
  maxpool2<<<(unsigned)DIV_UP((size_t)N * K * P, 256), 256, 0, st>>>(act, y, N * K, OH, OW);
  batchnorm_inplace<<<K, 512, 0, st>>>(y, gamma, beta, N, K, P, eps);
}

// ============ conv transpose 4x4 stride 2 pad 1 -> softmax over channels -> + bias -> * scale -> sigmoid ============

__global__ void upconv4(const h16* __restrict__ x, const h16* __restrict__ w, float* __restrict__ t, int N, int Ci, int Co, int H, int W)
{
  const int OH = 2 * H, OW = 2 * W;
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * Co * OH * OW) return;
  const int ox = i % OW, oy = (i / OW) % OH, co = (i / ((size_t)OW * OH)) % Co, n = i / ((size_t)OW * OH * Co);
  float s = 0.f;
  for (int ky = (oy + 1) & 1; ky < 4; ky += 2) {
    const int iy = (oy + 1 - ky) / 2;
    if (oy + 1 < ky || iy >= H) continue;
    for (int kx = (ox + 1) & 1; kx < 4; kx += 2) {
      const int ix = (ox + 1 - kx) / 2;
      if (ox + 1 < kx || ix >= W) continue;
      for (int c = 0; c < Ci; ++c) s += ld(&x[(((size_t)n * Ci + c) * H + iy) * W + ix]) * ld(&w[((c * Co + co) * 4 + ky) * 4 + kx]);
    }
  }
  t[i] = s;
}

// running maximum and sum in one pass, then one to write
__global__ void softmax_bias_scale_sigmoid(const float* t, const float* bias, h16* y, int N, int C, int P, float scale)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * P) return;
  const size_t base = (size_t)(i / P) * C * P + i % P;
  float mx = -INFINITY, sum = 0.f;
  for (int c = 0; c < C; ++c) {
    float v = t[base + (size_t)c * P];
    float nm = fmaxf(mx, v);
    sum = sum * __expf(mx - nm) + __expf(v - nm);
    mx = nm;
  }
  for (int c = 0; c < C; ++c) {
    float p = __expf(t[base + (size_t)c * P] - mx) / sum;
    st(&y[base + (size_t)c * P], sigm((p + bias[c]) * scale));
  }
}

void upconv_softmax_bias_scale_sigmoid(const h16* x, const h16* w, const float* bias, float* t, h16* y, int N, int Ci, int Co, int H, int W,
                                       float scale, cudaStream_t st)
{
  upconv4<<<(unsigned)DIV_UP((size_t)N * Co * 4 * H * W, 256), 256, 0, st>>>(x, w, t, N, Ci, Co, H, W);
  softmax_bias_scale_sigmoid<<<DIV_UP(N * 4 * H * W, 128), 128, 0, st>>>(t, bias, y, N, Co, 4 * H * W, scale);
}

// ============ conv3d 3x3x3 -> minimum over depth -> softmax over channels, in one kernel ============
// A block is a pixel, a thread a channel. Convolutions of the depths are thrown away but for the smallest.

__global__ void conv3d_min_softmax_kernel(const h16* x, const h16* w, const h16* bias, h16* y, int Ci, int Co, int D, int H, int W)
{
  const int OH = H - 2, OW = W - 2;
  const int ow = blockIdx.x, oh = blockIdx.y, n = blockIdx.z, co = threadIdx.x;
  float lowest = INFINITY;
  if (co < Co) {
    for (int d = 0; d + 2 < D; ++d) {
      float s = ld(&bias[co]);
      for (int ci = 0; ci < Ci; ++ci)
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            for (int c = 0; c < 3; ++c)
              s += ld(&x[((((size_t)n * Ci + ci) * D + d + a) * H + oh + b) * W + ow + c]) *
                   ld(&w[(((co * Ci + ci) * 3 + a) * 3 + b) * 3 + c]);
      lowest = fminf(lowest, s);
    }
  }
  const float mx = block_all<Max>(co < Co ? lowest : -INFINITY);
  const float e = co < Co ? expf(lowest - mx) : 0.f;
  const float sum = block_all<Sum>(e);
  if (co < Co) st(&y[(((size_t)n * Co + co) * OH + oh) * OW + ow], e / sum);
}

void conv3d_min_softmax(const h16* x, const h16* w, const h16* bias, h16* y, int N, int Ci, int Co, int D, int H, int W, cudaStream_t st)
{
  conv3d_min_softmax_kernel<<<dim3(W - 2, H - 2, N), DIV_UP(Co, 32) * 32, 0, st>>>(x, w, bias, y, Ci, Co, D, H, W);
}

// ============ residual block that halves the picture: conv3x3/2-bn-relu, conv3x3-bn, + conv1x1/2-bn, relu ============
// batch norms are folded into a scale and a shift for each channel

template <int R, int STRIDE, bool RELU, bool ADD>
__global__ void conv_bn(const h16* __restrict__ x, const h16* __restrict__ w, const float* __restrict__ scale,
                        const float* __restrict__ shift, const h16* __restrict__ add, h16* __restrict__ y, int N, int C, int H, int W,
                        int K)
{
  const int OH = (H - 1) / STRIDE + 1, OW = (W - 1) / STRIDE + 1, PAD = R / 2;
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)N * K * OH * OW) return;
  const int ow = i % OW, oh = (i / OW) % OH, k = (i / ((size_t)OW * OH)) % K, n = i / ((size_t)OW * OH * K);
  float s = 0.f;
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r) {
      const int ih = oh * STRIDE - PAD + r;
      if (ih < 0 || ih >= H) continue;
      for (int q = 0; q < R; ++q) {
        const int iw = ow * STRIDE - PAD + q;
        if (iw < 0 || iw >= W) continue;
        s += ld(&x[(((size_t)n * C + c) * H + ih) * W + iw]) * ld(&w[((k * C + c) * R + r) * R + q]);
      }
    }
  s = s * scale[k] + shift[k];
  if (ADD) s += ld(&add[i]);
  if (RELU) s = fmaxf(s, 0.f);
  st(&y[i], s);
}

void resblock_down(const h16* x, const h16* w1, const h16* w2, const h16* ws, const float* scale1, const float* shift1, const float* scale2,
                   const float* shift2, const float* scales, const float* shifts, h16* mid, h16* shortcut, h16* y, int N, int C, int H,
                   int W, int K, cudaStream_t st)
{
  const int OH = (H - 1) / 2 + 1, OW = (W - 1) / 2 + 1;
  const unsigned blocks = (unsigned)DIV_UP((size_t)N * K * OH * OW, 256);
  conv_bn<3, 2, true, false><<<blocks, 256, 0, st>>>(x, w1, scale1, shift1, nullptr, mid, N, C, H, W, K);
  conv_bn<1, 2, false, false><<<blocks, 256, 0, st>>>(x, ws, scales, shifts, nullptr, shortcut, N, C, H, W, K);
  conv_bn<3, 1, true, true><<<blocks, 256, 0, st>>>(mid, w2, scale2, shift2, shortcut, y, N, K, OH, OW, K);
}

// ============ squeeze and excite, with a hard sigmoid ============

__global__ void se_pool(const h16* x, float* mean, int P)
{
  const h16* p = x + (size_t)blockIdx.x * P;
  float s = 0.f;
  for (int i = threadIdx.x; i < P; i += blockDim.x) s += ld(p + i);
  s = block_all<Sum>(s);
  if (threadIdx.x == 0) mean[blockIdx.x] = s / P;
}

__global__ void se_squeeze(const float* mean, const h16* w, const float* b, float* z, int N, int C, int R)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * R) return;
  float s = b[i % R];
  for (int c = 0; c < C; ++c) s += mean[(i / R) * C + c] * ld(&w[(i % R) * C + c]);
  z[i] = fmaxf(s, 0.f);
}

__global__ void se_excite(const float* z, const h16* w, const float* b, float* gate, int N, int C, int R)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * C) return;
  float s = b[i % C];
  for (int r = 0; r < R; ++r) s += z[(i / C) * R + r] * ld(&w[(i % C) * R + r]);
  gate[i] = fminf(fmaxf(s / 6.f + 0.5f, 0.f), 1.f);
}

__global__ void se_apply(const h16* x, const float* gate, h16* y, int P)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= P) return;
  const size_t at = (size_t)blockIdx.y * P + i;
  st(&y[at], ld(&x[at]) * gate[blockIdx.y]);
}

void squeeze_excite(const h16* x, const h16* w1, const float* b1, const h16* w2, const float* b2, float* mean, float* z, float* gate, h16* y,
                    int N, int C, int H, int W, int R, cudaStream_t st)
{
  const int P = H * W;
  se_pool<<<N * C, 128, 0, st>>>(x, mean, P);
  se_squeeze<<<DIV_UP(N * R, 64), 64, 0, st>>>(mean, w1, b1, z, N, C, R);
  se_excite<<<DIV_UP(N * C, 64), 64, 0, st>>>(z, w2, b2, gate, N, C, R);
  se_apply<<<dim3(DIV_UP(P, 256), N * C), 256, 0, st>>>(x, gate, y, P);
}
