#include "../include/gpu_util.h"

namespace serving {

// residual += x; y = residual / rms(residual) * weight
template <typename T, int THREADS>
__global__ void fused_add_rmsnorm(const T* __restrict__ x, T* __restrict__ residual, const T* __restrict__ weight, T* __restrict__ y,
                                  int hidden, float eps) {
  const size_t base = size_t(blockIdx.x) * hidden;
  float sq = 0.f;
  for (int i = threadIdx.x; i < hidden; i += THREADS) {
    T sum = Cvt<T>::store(Cvt<T>::load(x[base + i]) + Cvt<T>::load(residual[base + i]));
    residual[base + i] = sum;
    float f = Cvt<T>::load(sum);
    sq += f * f;
  }
  const float total = block_all<THREADS>(sq, AddOp());
  const float inv = rsqrtf(total / hidden + eps);
  for (int i = threadIdx.x; i < hidden; i += THREADS)
    y[base + i] = Cvt<T>::store(Cvt<T>::load(residual[base + i]) * inv * Cvt<T>::load(weight[i]));
}

// NeoX style: element i is rotated with element i + D/2. The table holds D/2 cosines, then D/2 sines, per position.
template <typename T> __device__ void rotate(T* head, const float* cs, int half_dim) {
  for (int i = threadIdx.x; i < half_dim; i += blockDim.x) {
    float c = cs[i], s = cs[half_dim + i];
    float a = Cvt<T>::load(head[i]), b = Cvt<T>::load(head[half_dim + i]);
    head[i] = Cvt<T>::store(a * c - b * s);
    head[half_dim + i] = Cvt<T>::store(b * c + a * s);
  }
}

template <typename T>
__global__ void rope_kernel(T* q, T* k, const float* table, const int* positions, int hq, int hk, int half_dim) {
  const int token = blockIdx.x, head = blockIdx.y;
  const float* cs = table + size_t(positions[token]) * 2 * half_dim;
  if (head < hq)
    rotate(q + (size_t(token) * hq + head) * 2 * half_dim, cs, half_dim);
  else
    rotate(k + (size_t(token) * hk + head - hq) * 2 * half_dim, cs, half_dim);
}

// One warp per (sequence, query head, cached position).
__global__ void decode_scores(const __half* q, const __half* kcache, const int* lens, float* scores, int kvh, int group, int S, int D,
                              float scale) {
  const int s = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const int h = blockIdx.y, b = blockIdx.z;
  if (s >= S) return;
  float* out = scores + (size_t(b) * kvh * group + h) * S + s;
  if (s >= lens[b]) {
    if (lane == 0) *out = -INFINITY;
    return;
  }
  const __half* qp = q + (size_t(b) * kvh * group + h) * D;
  const __half* kp = kcache + ((size_t(b) * S + s) * kvh + h / group) * D;
  float dot = 0.f;
  for (int d = lane; d < D; d += 32) dot += __half2float(qp[d]) * __half2float(kp[d]);
  dot = warp_all(dot, AddOp());
  if (lane == 0) *out = dot * scale;
}

__global__ void decode_softmax(float* scores, int S) {
  float* row = scores + size_t(blockIdx.x) * S;
  float m = -INFINITY;
  for (int s = threadIdx.x; s < S; s += 128) m = fmaxf(m, row[s]);
  m = block_all<128>(m, MaxOp());
  float z = 0.f;
  for (int s = threadIdx.x; s < S; s += 128) {
    float e = expf(row[s] - m);
    row[s] = e;
    z += e;
  }
  z = block_all<128>(z, AddOp());
  for (int s = threadIdx.x; s < S; s += 128) row[s] /= z;
}

__global__ void decode_values(const float* probs, const __half* vcache, const int* lens, __half* out, int kvh, int group, int S, int D) {
  const int h = blockIdx.x, b = blockIdx.y, heads = kvh * group;
  const float* p = probs + (size_t(b) * heads + h) * S;
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float acc = 0.f;
    for (int s = 0; s < lens[b]; ++s) acc += p[s] * __half2float(vcache[((size_t(b) * S + s) * kvh + h / group) * D + d]);
    out[(size_t(b) * heads + h) * D + d] = __float2half(acc);
  }
}

// Weights: two 4-bit values per byte (low nibble first), zero point 8, a scale for 32 of them.
__global__ void w4a16_kernel(const uint8_t* packed, const __half* scales, const __half* x, __half* y, int B, int N, int groups) {
  const int n = blockIdx.x * blockDim.y + threadIdx.y;
  const int b = blockIdx.y;
  const int lane = threadIdx.x;
  if (n >= N) return;
  float acc = 0.f;
  for (int i = lane; i < groups * 16; i += 32) {
    const uint8_t two = packed[size_t(n) * groups * 16 + i];
    const float sc = __half2float(scales[size_t(n) * groups + i / 16]);
    const __half2 xv = reinterpret_cast<const __half2*>(x + size_t(b) * groups * 32)[i];
    acc += sc * (float(int(two & 15) - 8) * __low2float(xv) + float(int(two >> 4) - 8) * __high2float(xv));
  }
  acc = warp_all(acc, AddOp());
  if (lane == 0) y[size_t(b) * N + n] = __float2half(acc);
}

}  // namespace serving

cudaError_t add_rmsnorm(const __nv_bfloat16* x, __nv_bfloat16* residual, const __nv_bfloat16* weight, __nv_bfloat16* y, int tokens,
                        int hidden, float eps, cudaStream_t stream) {
  serving::fused_add_rmsnorm<__nv_bfloat16, 256><<<tokens, 256, 0, stream>>>(x, residual, weight, y, hidden, eps);
  return cudaGetLastError();
}

cudaError_t rope_inplace(__half* q, __half* k, const float* table, const int* positions, int tokens, int hq, int hk, int half_dim,
                         int max_pos, cudaStream_t stream) {
  (void)max_pos;
  serving::rope_kernel<__half><<<dim3(tokens, hq + hk), 64, 0, stream>>>(q, k, table, positions, hq, hk, half_dim);
  return cudaGetLastError();
}

cudaError_t gqa_decode(const __half* q, const __half* kcache, const __half* vcache, const int* lens, __half* out, float* scores, int B,
                       int kvh, int group, int S, int D, float scale, cudaStream_t stream) {
  const int heads = kvh * group;
  serving::decode_scores<<<dim3(ceil_div_i(S, 4), heads, B), 128, 0, stream>>>(q, kcache, lens, scores, kvh, group, S, D, scale);
  serving::decode_softmax<<<B * heads, 128, 0, stream>>>(scores, S);
  serving::decode_values<<<dim3(heads, B), 128, 0, stream>>>(scores, vcache, lens, out, kvh, group, S, D);
  return cudaGetLastError();
}

cudaError_t w4a16_matvec(const uint8_t* packed, const __half* scales, const __half* x, __half* y, int B, int N, int groups,
                         cudaStream_t stream) {
  serving::w4a16_kernel<<<dim3(ceil_div_i(N, 4), B), dim3(32, 4), 0, stream>>>(packed, scales, x, y, B, N, groups);
  return cudaGetLastError();
}
