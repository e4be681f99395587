#include "saw.h"

#include <mma.h>

// ============ linear -> group norm -> hard tanh, bf16 ============

__global__ void linear_bias_b16(const b16* x, const b16* w, const float* bias, float* t, int M, int N, int K)
{
  linear_tile(x, w, t, M, N, K, [=](float v, int, int n) { return v + bias[n]; });
}

// a warp for a group of a row
__global__ void groupnorm_hardtanh(const float* t, const float* gamma, const float* beta, b16* y, int M, int G, int per, float eps, float lo,
                                   float hi)
{
  const int id = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (id >= M * G) return;
  const float* p = t + (size_t)id * per;
  float s = 0.f, ss = 0.f;
  for (int i = lane; i < per; i += 32) s += p[i];
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  const float mean = s / per;
  for (int i = lane; i < per; i += 32) ss += (p[i] - mean) * (p[i] - mean);
  for (int d = 16; d; d /= 2) ss += __shfl_xor_sync(~0u, ss, d);
  const float inv = rsqrtf(ss / per + eps);
  const int c0 = (id % G) * per;
  for (int i = lane; i < per; i += 32) {
    float v = (p[i] - mean) * inv * gamma[c0 + i] + beta[c0 + i];
    st(&y[(size_t)id * per + i], fminf(fmaxf(v, lo), hi));
  }
}

void linear_groupnorm_hardtanh(const b16* x, const b16* w, const float* bias, const float* gamma, const float* beta, float* t, b16* y, int M,
                               int K, int G, int per, float eps, float lo, float hi, cudaStream_t st)
{
  const int N = G * per;
  linear_bias_b16<<<dim3(DIV_UP(N, 16), DIV_UP(M, 16)), dim3(16, 16), 0, st>>>(x, w, bias, t, M, N, K);
  groupnorm_hardtanh<<<DIV_UP(M * G, 4), 128, 0, st>>>(t, gamma, beta, y, M, G, per, eps, lo, hi);
}

// ============ linear -> * scale -> + itself -> clamp -> logsumexp over features -> v * mish(v) ============

__global__ void linear_scale_double_clamp(const h16* x, const h16* w, const h16* bias, float* t, int M, int N, int K, float scale, float bound)
{
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  float s = 0.f;
  for (int k = 0; k < K; ++k) s += ld(&x[(size_t)m * K + k]) * ld(&w[(size_t)n * K + k]);
  s = (s + ld(&bias[n])) * scale;
  s = s + s;
  st(&t[(size_t)m * N + n], fminf(fmaxf(s, -bound), bound));
}

__global__ void lse_mish(const float* t, float* y, int N)
{
  const float* row = t + (size_t)blockIdx.x * N;
  float mx = -INFINITY;
  for (int i = threadIdx.x; i < N; i += blockDim.x) mx = fmaxf(mx, ld(row + i));
  mx = block_all<Max>(mx);
  float s = 0.f;
  for (int i = threadIdx.x; i < N; i += blockDim.x) s += expf(ld(row + i) - mx);
  s = block_all<Sum>(s);
  if (threadIdx.x == 0) {
    const float v = mx + logf(s);
    const float softplus = v > 20.f ? v : log1pf(expf(v));
    y[blockIdx.x] = v * (v * tanhf(softplus));
  }
}

void linear_residual_clamp_lse_mish(const h16* x, const h16* w, const h16* bias, float* t, float* y, int M, int N, int K, float scale,
                                    float bound, cudaStream_t st)
{
  linear_scale_double_clamp<<<dim3(DIV_UP(N, 32), DIV_UP(M, 8)), dim3(32, 8), 0, st>>>(x, w, bias, t, M, N, K, scale, bound);
  lse_mish<<<M, 256, 0, st>>>(t, y, N);
}

// ============ linear -> average pool over features -> gelu -> * scale -> maximum of the row, f32 ============

__global__ void linear_avgpool_gelu(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias, float* t, int M,
                                    int pools, int width, int K, float scale)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M * pools) return;
  const int m = i / pools, p = i % pools;
  float total = 0.f;
  for (int j = 0; j < width; ++j) {
    const int n = p * width + j;
    float s = bias[n];
    for (int k = 0; k < K; ++k) s = fmaf(x[(size_t)m * K + k], w[(size_t)n * K + k], s);
    total += s;
  }
  t[i] = gelu_erf(total / width) * scale;
}

__global__ void row_max(const float* t, float* y, int n)
{
  float v = -INFINITY;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v = fmaxf(v, t[(size_t)blockIdx.x * n + i]);
  v = block_all<Max>(v);
  if (threadIdx.x == 0) y[blockIdx.x] = v;
}

void linear_avgpool_gelu_scale_max(const float* x, const float* w, const float* bias, float* t, float* y, int M, int pools, int width, int K,
                                   float scale, cudaStream_t st)
{
  linear_avgpool_gelu<<<DIV_UP(M * pools, 128), 128, 0, st>>>(x, w, bias, t, M, pools, width, K, scale);
  row_max<<<M, 128, 0, st>>>(t, y, pools);
}

// ============ three linear layers with relu between them, bf16 on tensor cores, a warp for 16 x 32 ============

template <bool RELU>
__global__ void mlp_layer(const b16* __restrict__ x, const b16* __restrict__ w, const float* __restrict__ bias, b16* __restrict__ y, int M,
                          int N, int K)
{
  using namespace nvcuda;
  __shared__ __align__(32) b16 xs[16 * 16];
  __shared__ __align__(32) b16 ws[32 * 16];   // w[n][k]: column major for the product
  __shared__ __align__(32) float ys[16 * 32];
  const int lane = threadIdx.x, m0 = blockIdx.y * 16, n0 = blockIdx.x * 32;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[2];
  wmma::fill_fragment(c[0], 0.f);
  wmma::fill_fragment(c[1], 0.f);
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int e = lane; e < 16 * 16; e += 32) {
      const int r = m0 + e / 16, k = k0 + e % 16;
      xs[e] = r < M && k < K ? x[(size_t)r * K + k] : __float2bfloat16(0.f);
    }
    for (int e = lane; e < 32 * 16; e += 32) {
      const int n = n0 + e / 16, k = k0 + e % 16;
      ws[e] = n < N && k < K ? w[(size_t)n * K + k] : __float2bfloat16(0.f);
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, b16, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, b16, wmma::col_major> b;
    wmma::load_matrix_sync(a, xs, 16);
    for (int j = 0; j < 2; ++j) {
      wmma::load_matrix_sync(b, ws + j * 256, 16);
      wmma::mma_sync(c[j], a, b, c[j]);
    }
    __syncwarp();
  }
  for (int j = 0; j < 2; ++j) wmma::store_matrix_sync(ys + j * 16, c[j], 32, wmma::mem_row_major);
  __syncwarp();
  for (int r = 0; r < 16; ++r) {
    if (m0 + r >= M || n0 + lane >= N) continue;
    float v = ys[r * 32 + lane] + bias[n0 + lane];
    if (RELU) v = fmaxf(v, 0.f);
    y[(size_t)(m0 + r) * N + n0 + lane] = __float2bfloat16(v);
  }
}

void mlp_three(const b16* x, const b16* w1, const float* b1, const b16* w2, const float* b2, const b16* w3, const float* b3, b16* h1, b16* h2,
               b16* y, int M, int D0, int D1, int D2, int D3, cudaStream_t st)
{
  mlp_layer<true><<<dim3(DIV_UP(D1, 32), DIV_UP(M, 16)), 32, 0, st>>>(x, w1, b1, h1, M, D1, D0);
  mlp_layer<true><<<dim3(DIV_UP(D2, 32), DIV_UP(M, 16)), 32, 0, st>>>(h1, w2, b2, h2, M, D2, D1);
  mlp_layer<false><<<dim3(DIV_UP(D3, 32), DIV_UP(M, 16)), 32, 0, st>>>(h2, w3, b3, y, M, D3, D2);
}
