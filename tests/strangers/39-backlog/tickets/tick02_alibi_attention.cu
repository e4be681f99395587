// Causal self-attention with ALiBi (MPT / BLOOM style), head size 64, reading the packed projection directly.
//
//   qkv : [B, T, 3, H, 64]  half
//   out : [B, T, H, 64]     half
//   score(i, j) = scale * q_i . k_j - slope[h] * (i - j),   j <= i
//
// One warp per (batch, head, query). Every lane keeps two of the 64 channels, softmax is computed online.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace {

constexpr int kWarpsPerBlock = 4;
constexpr int kHalf2PerHead = 32;

__device__ inline float warp_all_sum(float x) {
#pragma unroll
  for (int m = 16; m > 0; m >>= 1) x += __shfl_xor_sync(0xffffffffu, x, m);
  return x;
}

__global__ void __launch_bounds__(kWarpsPerBlock * 32)
alibi_attention_kernel(const __half2* __restrict__ qkv, const float* __restrict__ slopes, __half2* __restrict__ out,
                       int B, int T, int H, float scale) {
  const int lane = threadIdx.x & 31;
  const int id = blockIdx.x * kWarpsPerBlock + (threadIdx.x >> 5);
  if (id >= B * H * T) return;

  const int i = id % T;
  const int h = (id / T) % H;
  const int b = id / T / H;

  const size_t part = (size_t)H * kHalf2PerHead;  // distance from q to k and from k to v
  const size_t token = 3 * part;
  const __half2* base = qkv + (size_t)b * T * token + h * kHalf2PerHead + lane;

  const float2 q = __half22float2(base[i * token]);
  const float slope = slopes[h];

  float m = -INFINITY, l = 0.f;
  float2 acc = make_float2(0.f, 0.f);
  for (int j = 0; j <= i; ++j) {
    const float2 k = __half22float2(base[j * token + part]);
    float s = warp_all_sum(q.x * k.x + q.y * k.y);
    s = s * scale - slope * (float)(i - j);

    const float m_new = fmaxf(m, s);
    const float fix = __expf(m - m_new);
    const float p = __expf(s - m_new);
    const float2 v = __half22float2(base[j * token + 2 * part]);
    l = l * fix + p;
    acc.x = acc.x * fix + p * v.x;
    acc.y = acc.y * fix + p * v.y;
    m = m_new;
  }

  const float inv = 1.f / l;
  out[(((size_t)b * T + i) * H + h) * kHalf2PerHead + lane] = __floats2half2_rn(acc.x * inv, acc.y * inv);
}

}  // namespace

extern "C" cudaError_t alibi_attention(const __half2* qkv, const float* slopes, __half2* out, int B, int T, int H,
                                       float scale, cudaStream_t stream) {
  const int warps = B * H * T;
  const int blocks = (warps + kWarpsPerBlock - 1) / kWarpsPerBlock;
  alibi_attention_kernel<<<blocks, kWarpsPerBlock * 32, 0, stream>>>(qkv, slopes, out, B, T, H, scale);
  return cudaGetLastError();
}
