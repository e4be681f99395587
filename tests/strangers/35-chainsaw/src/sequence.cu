#include "saw.h"

// ============ causal attention with relu instead of softmax, q, k and v packed in one tensor [B, T, 3, heads, dim] ============

__global__ void relu_attention_kernel(const h16* __restrict__ qkv, h16* __restrict__ out, int T, int heads, int dim, float scale)
{
  extern __shared__ float sh[];   // the query, then its weights for keys 0..t
  float* q = sh;
  float* a = sh + dim;
  const int t = blockIdx.x, h = blockIdx.y, b = blockIdx.z;
  const size_t token = (size_t)3 * heads * dim;
  const h16* base = qkv + (size_t)b * T * token + h * dim;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) q[d] = ld(base + t * token + d) * scale;
  __syncthreads();
  for (int j = threadIdx.x; j <= t; j += blockDim.x) {
    const h16* k = base + j * token + heads * dim;
    float s = 0.f;
    for (int d = 0; d < dim; ++d) s += q[d] * ld(k + d);
    a[j] = fmaxf(s, 0.f);
  }
  __syncthreads();
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float s = 0.f;
    for (int j = 0; j <= t; ++j) s += a[j] * ld(base + j * token + 2 * heads * dim + d);
    st(&out[(((size_t)b * T + t) * heads + h) * dim + d], s);
  }
}

void relu_attention_causal(const h16* qkv, h16* out, int B, int T, int heads, int dim, float scale, cudaStream_t stream)
{
  relu_attention_kernel<<<dim3(T, heads, B), 64, (dim + T) * sizeof(float), stream>>>(qkv, out, T, heads, dim, scale);
}

// ============ a step of an LSTM: gates i, f, g, o ============

__global__ void lstm_gates(const h16* __restrict__ x, const h16* __restrict__ h, const h16* __restrict__ wx, const h16* __restrict__ wh,
                           const float* __restrict__ bias, float* __restrict__ gates, int B, int I, int H)
{
  // a warp for each gate of each sample
  const int id = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (id >= B * 4 * H) return;
  const int b = id / (4 * H), g = id % (4 * H);
  float s = 0.f;
  for (int k = lane; k < I; k += 32) s += ld(&x[(size_t)b * I + k]) * ld(&wx[(size_t)g * I + k]);
  for (int k = lane; k < H; k += 32) s += ld(&h[(size_t)b * H + k]) * ld(&wh[(size_t)g * H + k]);
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffff, s, d);
  if (lane == 0) gates[id] = s + bias[g];
}

__global__ void lstm_update(const float* gates, float* c, h16* hn, int B, int H)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * H) return;
  const float* g = gates + (size_t)(i / H) * 4 * H + i % H;
  const float cn = sigm(g[H]) * c[i] + sigm(g[0]) * tanhf(g[2 * H]);
  c[i] = cn;
  st(&hn[i], sigm(g[3 * H]) * tanhf(cn));
}

void lstm_step(const h16* x, const h16* h, const h16* wx, const h16* wh, const float* bias, float* gates, float* c, h16* hn, int B, int I,
               int H, cudaStream_t stream)
{
  lstm_gates<<<DIV_UP(B * 4 * H, 8), 256, 0, stream>>>(x, h, wx, wh, bias, gates, B, I, H);
  lstm_update<<<DIV_UP(B * H, 256), 256, 0, stream>>>(gates, c, hn, B, H);
}

// ============ mixer block for tokens: layer norm -> transpose -> linear over time -> gelu -> residual, bf16 ============

__global__ void layernorm_transposed(const b16* x, const float* gamma, const float* beta, b16* t, int T, int C, float eps)
{
  const int b = blockIdx.y, tok = blockIdx.x;
  const b16* row = x + ((size_t)b * T + tok) * C;
  float s = 0.f, ss = 0.f;
  for (int c = threadIdx.x; c < C; c += blockDim.x) s += ld(row + c);
  const float mean = block_all<Sum>(s) / C;
  for (int c = threadIdx.x; c < C; c += blockDim.x) ss += (ld(row + c) - mean) * (ld(row + c) - mean);
  const float inv = rsqrtf(block_all<Sum>(ss) / C + eps);
  for (int c = threadIdx.x; c < C; c += blockDim.x) st(&t[((size_t)b * C + c) * T + tok], (ld(row + c) - mean) * inv * gamma[c] + beta[c]);
}

__global__ void mix_time(const b16* t, const b16* w, const float* bias, const b16* x, b16* y, int T, int C)
{
  const int c = blockIdx.x * blockDim.x + threadIdx.x, o = blockIdx.y, b = blockIdx.z;
  if (c >= C) return;
  float s = bias[o];
  for (int k = 0; k < T; ++k) s += ld(&w[(size_t)o * T + k]) * ld(&t[((size_t)b * C + c) * T + k]);
  const size_t at = ((size_t)b * T + o) * C + c;
  st(&y[at], ld(&x[at]) + gelu_erf(s));
}

void token_mixer(const b16* x, const float* gamma, const float* beta, const b16* w, const float* bias, b16* t, b16* y, int B, int T, int C,
                 float eps, cudaStream_t stream)
{
  layernorm_transposed<<<dim3(T, B), 128, 0, stream>>>(x, gamma, beta, t, T, C, eps);
  mix_time<<<dim3(DIV_UP(C, 64), T, B), 64, 0, stream>>>(t, w, bias, x, y, T, C);
}
