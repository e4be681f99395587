// Norms, pools, scans, losses.
#include "common.cuh"

// ---- RMS norm over dimension 1 of [B, F, P]: every pixel has its own root mean square over the features
__global__ void rms_dim1(const __half* x, __half* y, int B, int F, int P, float eps)
{
  i64 id = flat_index();
  if (id >= (i64)B * P) return;
  const int b = (int)(id / P), p = (int)(id % P);
  const __half* src = x + (i64)b * F * P + p;
  __half* dst = y + (i64)b * F * P + p;
  float ss = 0.f;
  for (int f = 0; f < F; f++) {
    float v = __half2float(src[(i64)f * P]);
    ss += v * v;
  }
  const float inv = 1.0f / sqrtf(ss / F + eps);
  for (int f = 0; f < F; f++) dst[(i64)f * P] = __float2half(__half2float(src[(i64)f * P]) * inv);
}

void rmsnorm_features(const __half* x, __half* y, int B, int F, int P, float eps, cudaStream_t stream)
{
  rms_dim1<<<BLOCKS_FOR((i64)B * P, 128), 128, 0, stream>>>(x, y, B, F, P, eps);
}

// ---- average pool 3D, window kd x kh x kw, one stride and one padding for all axes, padding is not counted
__global__ void avgpool3d_kernel(const __half* x, __half* y, int NC, int D, int H, int W, int kd, int kh, int kw, int s, int pad, int OD,
                                 int OH, int OW)
{
  i64 id = flat_index();
  if (id >= (i64)NC * OD * OH * OW) return;
  i64 rest = id;
  const int w0 = peel(rest, OW) * s - pad, h0 = peel(rest, OH) * s - pad, d0 = peel(rest, OD) * s - pad;
  const __half* vol = x + rest * D * H * W;
  float sum = 0.f;
  int count = 0;
  for (int d = max(d0, 0); d < min(d0 + kd, D); ++d)
    for (int h = max(h0, 0); h < min(h0 + kh, H); ++h)
      for (int w = max(w0, 0); w < min(w0 + kw, W); ++w) {
        sum += __half2float(vol[(d * H + h) * W + w]);
        ++count;
      }
  y[id] = __float2half(sum / count);
}

void avgpool3d_valid_count(const __half* x, __half* y, int NC, int D, int H, int W, int kd, int kh, int kw, int s, int pad,
                           cudaStream_t stream)
{
  const int OD = (D + 2 * pad - kd) / s + 1, OH = (H + 2 * pad - kh) / s + 1, OW = (W + 2 * pad - kw) / s + 1;
  avgpool3d_kernel<<<BLOCKS_FOR((i64)NC * OD * OH * OW, 256), 256, 0, stream>>>(x, y, NC, D, H, W, kd, kh, kw, s, pad, OD, OH, OW);
}

// ---- exclusive cumulative product along the rows, one warp for a row
__global__ void cumprod_rows(const float* __restrict__ x, float* __restrict__ y, int rows, int cols)
{
  const int row = (int)(flat_index() >> 5), lane = threadIdx.x & 31;
  if (row >= rows) return;
  const float* src = x + (size_t)row * cols;
  float* dst = y + (size_t)row * cols;
  float carry = 1.f;
  for (int base = 0; base < cols; base += 32) {
    const int i = base + lane;
    float v = i < cols ? src[i] : 1.f;
    for (int d = 1; d < 32; d <<= 1) {
      float left = __shfl_up_sync(FULL, v, d);
      if (lane >= d) v *= left;
    }
    float before = __shfl_up_sync(FULL, v, 1);
    if (lane == 0) before = 1.f;
    if (i < cols) dst[i] = carry * before;
    carry *= __shfl_sync(FULL, v, 31);
  }
}

void cumprod_exclusive(const float* x, float* y, int rows, int cols, cudaStream_t stream)
{
  cumprod_rows<<<BLOCKS_FOR((i64)rows * 32, 256), 256, 0, stream>>>(x, y, rows, cols);
}

// ---- triplet loss on cosine similarities: mean(max(0, cos(a, n) - cos(a, p) + margin))
constexpr int WARPS = 8;

__global__ void triplet_rows(const __half* __restrict__ anchor, const __half* __restrict__ pos, const __half* __restrict__ neg,
                             float* __restrict__ partial, int B, int D, float margin)
{
  __shared__ float per_warp[WARPS];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int row = blockIdx.x * WARPS + warp;
  float loss = 0.f;
  if (row < B) {
    const size_t off = (size_t)row * D;
    float aa = 0, pp = 0, nn = 0, ap = 0, an = 0;
    for (int i = lane; i < D; i += 32) {
      float a = __half2float(anchor[off + i]), p = __half2float(pos[off + i]), n = __half2float(neg[off + i]);
      aa += a * a;
      pp += p * p;
      nn += n * n;
      ap += a * p;
      an += a * n;
    }
    aa = warp_add(aa), pp = warp_add(pp), nn = warp_add(nn), ap = warp_add(ap), an = warp_add(an);
    const float cos_p = ap * rsqrtf(fmaxf(aa * pp, 1e-12f)), cos_n = an * rsqrtf(fmaxf(aa * nn, 1e-12f));
    loss = fmaxf(0.f, cos_n - cos_p + margin);
  }
  if (lane == 0) per_warp[warp] = loss;
  __syncthreads();
  if (threadIdx.x == 0) {
    float s = 0.f;
    for (int i = 0; i < WARPS; ++i) s += per_warp[i];
    partial[blockIdx.x] = s;
  }
}

__global__ void finish_mean(const float* partial, float* out, int n, float scale)
{
  __shared__ float sm[32];
  float s = 0.f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += partial[i];
  s = warp_add(s);
  if ((threadIdx.x & 31) == 0) sm[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < blockDim.x / 32 ? sm[threadIdx.x] : 0.f;
    s = warp_add(s);
    if (threadIdx.x == 0) *out = s * scale;
  }
}

void triplet_cosine_loss(const __half* anchor, const __half* pos, const __half* neg, float* partial, float* out, int B, int D, float margin,
                         cudaStream_t stream)
{
  const int blocks = BLOCKS_FOR(B, WARPS);
  triplet_rows<<<blocks, WARPS * 32, 0, stream>>>(anchor, pos, neg, partial, B, D, margin);
  finish_mean<<<1, 256, 0, stream>>>(partial, out, blocks, 1.0f / B);
}
