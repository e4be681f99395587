// Differential attention (two softmax maps per head, the second one subtracted), forward, not causal:
//
//   P_j = softmax(q_j k_j^T * scale)            j = 0, 1        q: [B][H][2][S][D]   k: [B][H][2][T][D]
//   o   = (P_0 - lambda * P_1) v                                v: [B][H][T][E]
//   out = o / sqrt(mean(o^2) + eps) * gamma * (1 - lambda_init) out: [B][H][S][E]
//
// bf16 in and out, the maps and o are f32 workspaces.
#include "common.cuh"

namespace {

constexpr int kTile = 16;
using bf16 = __nv_bfloat16;

__global__ void scores_kernel(const bf16* __restrict__ q, const bf16* __restrict__ k, float* __restrict__ maps, int S, int T, int D,
                              float scale) {
  __shared__ float qs[kTile][kTile];
  __shared__ float ks[kTile][kTile + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int s = blockIdx.y * kTile + ty;
  const int t0 = blockIdx.x * kTile;
  q += (size_t)blockIdx.z * S * D;
  k += (size_t)blockIdx.z * T * D;

  float acc = 0.f;
  for (int d0 = 0; d0 < D; d0 += kTile) {
    const int d = d0 + tx;
    qs[ty][tx] = s < S && d < D ? __bfloat162float(q[(size_t)s * D + d]) : 0.f;
    ks[ty][tx] = t0 + ty < T && d < D ? __bfloat162float(k[(size_t)(t0 + ty) * D + d]) : 0.f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) acc += qs[ty][i] * ks[tx][i];
    __syncthreads();
  }
  if (s < S && t0 + tx < T) maps[((size_t)blockIdx.z * S + s) * T + t0 + tx] = acc * scale;
}

template <int WARPS>
__global__ void softmax_kernel(float* __restrict__ maps, int T) {
  __shared__ float slots[WARPS];
  float* row = maps + (size_t)blockIdx.x * T;

  float top = -INFINITY;
  for (int t = threadIdx.x; t < T; t += WARPS * WARP_SIZE) top = fmaxf(top, row[t]);
  top = block_max<WARPS>(top, slots);

  float sum = 0.f;
  for (int t = threadIdx.x; t < T; t += WARPS * WARP_SIZE) {
    const float e = __expf(row[t] - top);
    row[t] = e;
    sum += e;
  }
  const float inv = 1.f / block_sum<WARPS>(sum, slots);
  for (int t = threadIdx.x; t < T; t += WARPS * WARP_SIZE) row[t] *= inv;
}

__global__ void combine_kernel(const float* __restrict__ maps, const bf16* __restrict__ v, float* __restrict__ o, int S, int T,
                               int E, float lambda) {
  __shared__ float ps[kTile][kTile];
  __shared__ float vs[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int s = blockIdx.y * kTile + ty;
  const int e = blockIdx.x * kTile + tx;
  const float* first = maps + (size_t)blockIdx.z * 2 * S * T;
  const float* second = first + (size_t)S * T;
  v += (size_t)blockIdx.z * T * E;

  float acc = 0.f;
  for (int t0 = 0; t0 < T; t0 += kTile) {
    const int t = t0 + tx;
    ps[ty][tx] = s < S && t < T ? first[(size_t)s * T + t] - lambda * second[(size_t)s * T + t] : 0.f;
    vs[ty][tx] = t0 + ty < T && e < E ? __bfloat162float(v[(size_t)(t0 + ty) * E + e]) : 0.f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) acc += ps[ty][i] * vs[i][tx];
    __syncthreads();
  }
  if (s < S && e < E) o[((size_t)blockIdx.z * S + s) * E + e] = acc;
}

// a warp per row
__global__ void headnorm_kernel(const float* __restrict__ o, const bf16* __restrict__ gamma, bf16* __restrict__ out, int rows, int E,
                                float gain, float eps) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
  const int lane = threadIdx.x % WARP_SIZE;
  if (row >= rows) return;
  const float* in = o + (size_t)row * E;
  float squares = 0.f;
  for (int e = lane; e < E; e += WARP_SIZE) squares += in[e] * in[e];
  const float r = rsqrtf(warp_sum(squares) / E + eps) * gain;
  for (int e = lane; e < E; e += WARP_SIZE) out[(size_t)row * E + e] = __float2bfloat16(in[e] * r * __bfloat162float(gamma[e]));
}

}  // namespace

cudaError_t diff_attention(const bf16* q, const bf16* k, const bf16* v, const bf16* gamma, float* maps, float* o, bf16* out, int B,
                           int H, int S, int T, int D, int E, float scale, float lambda, float lambda_init, float eps,
                           cudaStream_t stream) {
  const int heads = B * H;
  if (heads <= 0 || 2 * heads > 65535) return cudaErrorInvalidValue;
  const dim3 block(kTile, kTile);
  scores_kernel<<<dim3(CEIL_DIV(T, kTile), CEIL_DIV(S, kTile), 2 * heads), block, 0, stream>>>(q, k, maps, S, T, D, scale);
  softmax_kernel<4><<<2 * heads * S, 4 * WARP_SIZE, 0, stream>>>(maps, T);
  combine_kernel<<<dim3(CEIL_DIV(E, kTile), CEIL_DIV(S, kTile), heads), block, 0, stream>>>(maps, v, o, S, T, E, lambda);
  headnorm_kernel<<<CEIL_DIV(heads * S, 8), 8 * WARP_SIZE, 0, stream>>>(o, gamma, out, heads * S, E, 1.f - lambda_init, eps);
  return cudaGetLastError();
}
